// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ops/linear/linear.h"
#include "ops/linear/linear_op.h"
#include "ops/linear/linear_tiles.h"
#include "ops/op_def.h"
#include "tests/support/contract_check.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;

struct LinearCase {
  Shape x;
  int64_t outputs;
  Linear linear = {};
  std::optional<int64_t> zero_point = {};
  double output_steps = 60;                 ///< typical outputs are so many codes from the zero point
  std::optional<double> weight_scale = {};  ///< one of all channels
};

void check_linear(const std::string& name, const LinearCase& c) {
  for (const bool with_bias : {true, false}) {
    const uint64_t seed = 0x11 + static_cast<uint64_t>(element_count(c.x) * 31 + c.outputs) * 2 + (with_bias ? 1 : 0);
    GraphBuilder b(seed);
    TensorType type = b.int8_type(c.x);
    if (c.zero_point) type.quant->zero_point[0] = *c.zero_point;
    const TensorId x = b.input(type);
    const Shape shape{c.outputs, c.x.back()};
    const TensorId w =
        c.weight_scale ? b.constant(TensorType{DType::kInt8, shape, per_tensor(*c.weight_scale, 0)}) : b.weights(shape);
    std::vector<TensorId> inputs{x, w};
    if (with_bias) inputs.push_back(b.bias(x, w, c.x.back()));
    Quant out = random_quant(b.random());
    const double terms = static_cast<double>(c.x.back());
    out.scale[0] = type.quant->scale[0] * 0.008 * 5000 * std::sqrt(terms) / c.output_steps;
    b.output(b.node(c.linear, inputs, out));
    check_op(b.graph(), name, seed);
  }
}

TEST(Linear, EveryTailOfOutputsAndInputs) {
  for (int64_t n = 1; n <= 20; ++n) check_linear("linear_tail", {{1, n}, 21 - n});
  check_linear("linear_24_40", {{1, 24}, 40});
  check_linear("linear_257", {{1, 257}, 257});
  check_linear("linear_640_128", {{1, 640}, 128});
  for (int64_t chunks = 2; chunks <= 18; ++chunks) check_linear("linear_chunks", {{1, 16 * chunks - 3}, 9});
}

TEST(Linear, OneScaleOfAllChannels) {
  const auto check = [](LinearCase c) {
    c.weight_scale = 0.008;
    check_linear("one_scale", c);
  };
  for (int64_t n = 1; n <= 20; ++n) check({{1, n}, 21 - n});
  for (int64_t chunks = 2; chunks <= 18; ++chunks) check({{1, 16 * chunks - 3}, 9});
  check({{1, 128}, 35});
  check({{2, 18}, 9, {.min = -0.25, .max = 0.5}});
  check({{1, 4, 3, 17}, 6});
}

TEST(Linear, ChannelsOfOneScaleAreBiases) {
  const auto families = [](double second_scale) {
    GraphBuilder b(5);
    const TensorId x = b.input(b.int8_type({1, 64}));
    std::vector<double> scales(8, 0.008);
    scales[1] = second_scale;
    const TensorId w = b.constant(TensorType{DType::kInt8, {8, 64}, channel_quant(scales)});
    Quant out = per_tensor(b.graph().type(x).quant->scale[0] * 4, 0);
    b.output(b.node(Linear{}, {x, w}, out));
    const Program program = lower_graph(b.graph(), Isa::kMve, "cortex-m55", Opt::kSpeed);
    return std::string(program.steps.at(0).family->name);
  };
  EXPECT_EQ(families(0.008), "linear_one_scale_s8");
  EXPECT_EQ(families(0.009), "linear_tiles_s8");
}

TEST(Linear, Positions) {
  check_linear("rank_1", {{33}, 6});
  check_linear("batch", {{5, 19}, 7});
  check_linear("rank_3", {{2, 3, 18}, 5});
  check_linear("map", {{1, 4, 3, 17}, 6});
  check_linear("maps", {{2, 4, 3, 5}, 6});
}

TEST(Linear, ZeroPointsAndScalesAtTheEnds) {
  for (const int64_t zero_point : {-128, 0, 127}) check_linear("zero_point", {{2, 21}, 6, {}, zero_point});
  for (const double steps : {1e-12, 1e-4, 2.0, 4000.0, 1e5, 1e7, 1e9, 1e12})
    check_linear("scale", {{2, 18}, 9, {}, {}, steps});
  check_linear("clamped", {{2, 18}, 9, {.min = -0.25, .max = 0.5}});
}

TEST(Linear, Float) {
  GraphBuilder b(8);
  const TensorId x = b.input(GraphBuilder::float_type({2, 3, 7})), w = b.constant(GraphBuilder::float_type({5, 7}));
  b.output(b.node(Linear{}, {x, w, b.constant(GraphBuilder::float_type({5}))}));
  b.output(b.node(Linear{.min = -2, .max = 3}, {x, w}));
  check_op(b.graph(), "linear_f32", 8);
}

LinearParams small_params() {
  return {.in = {12, 2, 0},
          .out = {8, 2, 0},
          .rows = 2,
          .positions = 4,
          .in_features = 3,
          .out_features = 2,
          .codes = {0, -128, 127, 0}};
}

TEST(Linear, ExtentsAreWhatTheKernelTouches) {
  const LinearParams params = small_params();
  Extents extents{};
  ASSERT_TRUE(linear_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 4), ElementsAre(24, 16, 6, 32));
  EXPECT_EQ(extents.rows, 2u);
}

TEST(Linear, TilesAreMadeUpToChunksAndBlocks) {
  LinearParams params = small_params();
  Extents extents{};
  ASSERT_TRUE(linear_tiles_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5), ElementsAre(24, 16, 128, 64, 16));
  const LinearOneScaleParams one_scale = {params, 1 << 30};
  Extents biases{};
  ASSERT_TRUE(linear_one_scale_s8_contract.extents(&one_scale, &biases));
  EXPECT_THAT(std::vector(biases.bytes, biases.bytes + 5), ElementsAre(24, 16, 128, 32, 16));
  params.codes.left_shift = 1;
  EXPECT_FALSE(linear_tiles_s8_contract.extents(&params, &extents));
}

TEST(Linear, WhateverExtentsAcceptStaysInside) {
  check_contract<LinearParams>(linear_tiles_s8_contract, linear_tiles_s8_scalar, small_params(), 48);
  check_contract<LinearOneScaleParams>(linear_one_scale_s8_contract, linear_one_scale_s8_scalar,
                                       {small_params(), 1 << 30}, 49);
  check_contract<LinearParams>(linear_s8_contract, linear_s8_scalar, small_params(), 43);
  const LinearF32Params floats = {.in = {48, 2, 0},
                                  .out = {32, 2, 0},
                                  .rows = 2,
                                  .positions = 4,
                                  .in_features = 3,
                                  .out_features = 2,
                                  .min = -1,
                                  .max = 1};
  check_contract<LinearF32Params>(linear_f32_contract, linear_f32_scalar, floats, 47);
}

// From here on the expected values are PyTorch's: dequantize, linear in float64, clamp, quantize. Element i of x is
// (37 i + 11) mod 256 - 128, of w (91 i + 5) mod 256 - 128. None is a tie.
TEST(Linear, IsWhatPyTorchComputes) {
  const std::vector<NodeInput> inputs{
      {stepping_codes({2, 7}, 37, 11), per_tensor(0.05, -9)},
      {stepping_codes({5, 7}, 91, 5), channel_quant({0.02, 0.011, 0.03, 0.004, 0.017})},
      {make_tensor<int32_t>(DType::kInt32, {5}, {100, -2000, 30, 4000, -5}), std::nullopt}};
  EXPECT_THAT(codes_of(evaluate_node(Linear{}, inputs, per_tensor(0.8, 12))),
              ElementsAre(23, 11, -24, 13, -9, 22, 11, -24, 13, -9));
}

TEST(Linear, OneWeightScaleAndAClampAreWhatPyTorchComputes) {
  const std::vector<NodeInput> inputs{{stepping_codes({3, 6}, 37, 11), per_tensor(0.05, 127)},
                                      {stepping_codes({3, 6}, 91, 5), per_tensor(0.02, 0)}};
  EXPECT_THAT(codes_of(evaluate_node(Linear{.min = 0, .max = 100}, inputs, per_tensor(1.5, -128))),
              ElementsAre(-103, -123, -128, -121, -128, -128, -123, -128, -128));
}

TEST(Linear, FloatIsWhatPyTorchComputes) {
  HostTensor x(DType::kFloat32, {2, 5}), w(DType::kFloat32, {3, 5});
  // Binary fractions: every order of summation gives the same.
  for (int64_t i = 0; i < x.size(); ++i) x.as<float>()[i] = static_cast<float>((37 * i + 11) % 256 - 128) / 16;
  for (int64_t i = 0; i < w.size(); ++i) w.as<float>()[i] = static_cast<float>((91 * i + 5) % 256 - 128) / 64;
  const HostTensor bias = make_tensor<float>(DType::kFloat32, {3}, {0.5f, -1.25f, 3.0f});
  EXPECT_THAT(floats_of(evaluate_node(Linear{}, {{x}, {w}, {bias}})),
              ElementsAre(14.7431640625f, -5.7890625f, -1.8212890625f, -8.9609375f, -9.732421875f, 13.99609375f));
}

}  // namespace
}  // namespace rush
