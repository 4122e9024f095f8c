// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/conv2d/conv2d_op.h"
#include "ops/op_def.h"
#include "ops/rescale/rescale.h"
#include "ops/rescale/rescale_op.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void check_rescale(const std::string& name, const Shape& shape, const Rescale& rescale = {}) {
  const uint64_t seed = 0x4e5 + static_cast<uint64_t>(element_count(shape));
  GraphBuilder b(seed);
  const TensorId x = b.input(b.int8_type(shape));
  b.output(b.node(rescale, {x}, random_quant(b.random())));
  check_op(b.graph(), name, seed);
}

TEST(Rescale, EveryTailOfAVector) {
  for (int64_t count = 1; count <= 33; ++count) check_rescale("rescale_tail", {count});
  check_rescale("rescale_257", {257});
}

TEST(Rescale, MapsRowByRow) {
  check_rescale("rescale_map", {1, 5, 3, 7});
  check_rescale("rescale_clamped", {1, 5, 3, 7}, {.min = -0.5, .max = 0.75});
  check_rescale("rescale_batch", {2, 3, 3, 5});
}

/// A 1x1 convolution, and its output with another scale.
Program convolution_and_rescale(Quant from, Quant to, bool checked) {
  GraphBuilder b(9);
  const TensorId x = b.input(b.int8_type({1, 3, 5, 16}));
  const TensorId y = b.node(Conv2d{.layout = "nhwc"}, {x, b.weights({8, 1, 1, 16})}, from);
  b.output(b.node(Rescale{}, {y}, to));
  if (checked) check_op(b.graph(), {.name = "rescale_convolution", .seed = 9, .opt = Opt::kSize});
  return lower_graph(b.graph(), Isa::kMve, "cortex-m55", Opt::kSize);
}

TEST(Rescale, IsAConvolutionOfOneWeightWhereThatGivesTheSameCodes) {
  for (const double scale : {0.00401, 0.0039, 0.0071, 0.019, 0.09}) {
    const Program program = convolution_and_rescale(per_tensor(0.0037, -128), per_tensor(scale, -100), true);
    EXPECT_EQ(program.steps.at(1).family->name, "conv2d_tiles_s8") << scale;
  }
}

TEST(Rescale, IsATableWhereNoConvolutionGivesItsCodes) {
  // Halves are ties, which quantize rounds to even and a convolution up.
  const Program program = convolution_and_rescale(per_tensor(0.5, 0), per_tensor(1, 0), true);
  EXPECT_EQ(program.steps.at(1).family->name, "rescale_s8");
}

TEST(Rescale, IsTheNearestCodeForEveryCode) {
  Random random(12);
  HostTensor x(DType::kInt8, {256});
  for (int i = 0; i < 256; ++i) x.as<int8_t>()[i] = static_cast<int8_t>(i - 128);
  for (int i = 0; i < 200; ++i) {
    const Quant in = per_tensor(std::exp2(random.real(-10, 6)), random.integer(-128, 127));
    const Quant out = per_tensor(std::exp2(random.real(-10, 6)), random.integer(-128, 127));
    const HostTensor y = evaluate_node(Rescale{}, {{x, in}}, out);
    for (int k = 0; k < 256; ++k) {
      const double steps = static_cast<double>(k - 128 - in.zero_point[0]) * in.scale[0] / out.scale[0];
      const double exact = std::clamp(steps + static_cast<double>(out.zero_point[0]), -128.0, 127.0);
      ASSERT_NEAR(y.as<int8_t>()[k], exact, 0.50001) << "code " << k - 128 << ", seed 12, turn " << i;
    }
  }
}

TEST(Rescale, ExtentsRefuseRowsThatDoNotFit) {
  const RescaleParams good = {{7, 5, 0}, {7, 5, 0}, 5, 0, 7};
  const auto change = [&](auto edit) {
    RescaleParams params = good;
    edit(params);
    Extents extents{};
    return rescale_s8_contract.extents(&params, &extents);
  };
  EXPECT_TRUE(change([](auto&) {}));
  EXPECT_FALSE(change([](auto& p) { p.row_elements = 8; }));
  EXPECT_FALSE(change([](auto& p) { p.rows = 6; }));
  EXPECT_FALSE(change([](auto& p) { p.out.reciprocal = 1; }));
}

TEST(Rescale, RefusesFloats) {
  const NodeInput x{make_tensor<float>(DType::kFloat32, {2}, {1, 2})};
  EXPECT_THAT(refusal_of(Rescale{}, {x}, per_tensor(0.1, 0)), HasSubstr("rescaling float32 [2] to"));
}

// The expected values are PyTorch's: dequantize, (relu6,) quantize. Ties go to even.
TEST(Rescale, IsWhatPyTorchComputes) {
  const HostTensor x =
      make_tensor<int8_t>(DType::kInt8, {16}, {-128, -127, -100, -65, -33, -10, -1, 0, 1, 2, 17, 50, 77, 99, 126, 127});
  EXPECT_THAT(codes_of(evaluate_node(Rescale{}, {{x, per_tensor(0.05, -9)}}, per_tensor(0.0371, 20))),
              ElementsAre(-128, -128, -103, -55, -12, 19, 31, 32, 33, 35, 55, 100, 127, 127, 127, 127));
  EXPECT_THAT(codes_of(evaluate_node(Rescale{0, 6}, {{x, per_tensor(0.1, -9)}}, per_tensor(0.0236, -128))),
              ElementsAre(-128, -128, -128, -128, -128, -128, -94, -90, -86, -81, -18, 122, 126, 126, 126, 126));
  EXPECT_THAT(codes_of(evaluate_node(Rescale{}, {{x, per_tensor(0.05, 0)}}, per_tensor(0.1, 0))),
              ElementsAre(-64, -64, -50, -32, -16, -5, 0, 0, 0, 1, 8, 25, 38, 50, 63, 64));
}

}  // namespace
}  // namespace rush
