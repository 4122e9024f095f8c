// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/add/add_op.h"
#include "ops/add/add_ref.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void check_add(const std::string& name, const Shape& a, const Shape& b_shape, const Add& add = {}) {
  for (const bool quantized : {true, false}) {
    const uint64_t seed = 0xadd + static_cast<uint64_t>(element_count(a)) * 131 + static_cast<uint64_t>(a.size());
    GraphBuilder b(seed);
    const TensorType a_type = quantized ? b.int8_type(a) : GraphBuilder::float_type(a);
    const TensorType b_type = quantized ? b.int8_type(b_shape) : GraphBuilder::float_type(b_shape);
    const TensorId x = b.input(a_type), y = b.input(b_type);
    b.output(b.node(add, {x, y}, quantized ? std::optional(random_quant(b.random())) : std::nullopt));
    check_op(b.graph(), name + (quantized ? "_s8" : "_f32"), seed);
  }
}

TEST(Add, EveryTailOfAVector) {
  for (int64_t count = 1; count <= 33; ++count) check_add("add_tail", {count}, {count});
}

TEST(Add, MapsRowByRow) {
  check_add("add_map", {1, 5, 3, 7}, {1, 5, 3, 7});
  check_add("add_map_relu", {1, 4, 2, 17}, {1, 4, 2, 17}, {.min = 0});
  check_add("add_map_wide", {1, 2, 1, 257}, {1, 2, 1, 257}, {.alpha = -1});
  check_add("add_batch", {3, 2, 3, 5}, {3, 2, 3, 5}, {.alpha = 0.3, .max = 1});
}

TEST(Add, Broadcasts) {
  check_add("add_scalar", {2, 3, 5}, {});
  check_add("add_to_scalar", {}, {2, 3, 5}, {.alpha = -0.5});
  check_add("add_channels", {1, 4, 3, 6}, {6});
  check_add("add_channels_first", {9}, {1, 3, 2, 9}, {.alpha = -2});
  check_add("add_plane", {1, 4, 6, 5}, {1, 4, 6, 1});
  check_add("add_row", {1, 4, 6, 5}, {1, 1, 6, 5});
  check_add("add_column", {1, 4, 6, 5}, {1, 4, 1, 5});
  check_add("add_rows_only", {1, 4, 6, 5}, {1, 4, 1, 1});
  check_add("add_cross", {1, 1, 6, 4}, {1, 5, 1, 1});
  check_add("add_cross_channels", {1, 5, 1, 4}, {1, 1, 6, 4});
  check_add("add_both_inner", {1, 5, 6, 1}, {1, 1, 1, 4});
  check_add("add_three_groups", {2, 1, 3, 4}, {1, 5, 1, 4});
  check_add("add_four_groups", {2, 1, 3, 1}, {1, 5, 1, 4}, {.alpha = -1});
  check_add("add_rank_six", {2, 1, 3, 1, 2, 1}, {3, 2, 2, 2});
}

TEST(Add, ATensorToItself) {
  for (const bool quantized : {true, false}) {
    GraphBuilder b(77);
    const TensorId x = b.input(quantized ? b.int8_type({1, 3, 4, 5}) : GraphBuilder::float_type({1, 3, 4, 5}));
    b.output(b.node(Add{.alpha = 0.7}, {x, x}, quantized ? std::optional(random_quant(b.random())) : std::nullopt));
    check_op(b.graph(), "add_itself", 77);
  }
}

TEST(Add, ConstantsOnEitherSide) {
  for (const bool first : {true, false}) {
    GraphBuilder b(78);
    const TensorId x = b.input(b.int8_type({1, 3, 4, 5}));
    const TensorId c = b.constant(b.int8_type({4, 1}));
    const std::vector<TensorId> inputs = first ? std::vector{c, x} : std::vector{x, c};
    b.output(b.node(Add{.alpha = -1}, inputs, random_quant(b.random())));
    check_op(b.graph(), "add_constant", 78);
  }
}

/// The sum with one rounding half up, in double: an independent definition.
double real_steps(const Quant& a, const Quant& b, const Quant& out, double alpha, int a_code, int b_code) {
  const double real = a.scale[0] * static_cast<double>(a_code - a.zero_point[0]) +
                      alpha * b.scale[0] * static_cast<double>(b_code - b.zero_point[0]);
  return std::floor(real / out.scale[0] + 0.5) + static_cast<double>(out.zero_point[0]);
}

/// All pairs of codes.
void expect_within_one_step(const Quant& a, const Quant& b, const Quant& out, double alpha) {
  HostTensor x(DType::kInt8, {256, 1}), y(DType::kInt8, {1, 256});
  for (int i = 0; i < 256; ++i) x.as<int8_t>()[i] = y.as<int8_t>()[i] = static_cast<int8_t>(i - 128);
  const HostTensor sum = evaluate_node(Add{.alpha = alpha}, {{x, a}, {y, b}}, out);
  for (int i = 0; i < 65536; ++i) {
    const double expected = std::clamp(real_steps(a, b, out, alpha, i / 256 - 128, i % 256 - 128), -128.0, 127.0);
    ASSERT_LE(std::abs(sum.as<int8_t>()[i] - expected), 1)
        << "codes " << i / 256 - 128 << ", " << i % 256 - 128 << ", scales " << a.scale[0] << ", " << b.scale[0] << ", "
        << out.scale[0];
  }
}

TEST(Add, IsNeverMoreThanOneStepFromTheRealSum) {
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const auto quant = [&](double low, double high) {
      return per_tensor(std::exp2(random.real(low, high)), random.pick(std::vector<int64_t>{-128, 127, 0, 5}));
    };
    expect_within_one_step(quant(-12, 8), quant(-12, 8), quant(-6, 2), random.pick(std::vector<double>{1, -1, 0.37}));
  }
}

TEST(Add, ScalesNeverOverflowThirtyTwoBits) {
  Random random(6);
  for (int i = 0; i < 2000; ++i) {
    const auto quant = [&] { return per_tensor(std::exp2(random.real(-20, 20)), random.integer(-128, 127)); };
    const auto scale = add_scale(quant(), quant(), random.real(-3, 3), quant());
    if (!scale) continue;
    EXPECT_LT(std::abs(scale->a_multiplier), 1 << 22);
    EXPECT_LT(std::abs(scale->b_multiplier), 1 << 22);
    for (const int64_t a : {-128, 0, 127}) {
      for (const int64_t b : {-128, 0, 127}) {
        const int64_t sum = a * scale->a_multiplier + b * scale->b_multiplier + scale->offset;
        EXPECT_EQ(sum, static_cast<int32_t>(sum));
      }
    }
  }
}

TEST(Add, ScalesKeepTwentyBitsOfPrecision) {
  const auto scale = add_scale(per_tensor(0.05, 3), per_tensor(0.04, -7), 1, per_tensor(0.06, 0));
  ASSERT_TRUE(scale);
  EXPECT_GE(scale->shift, 20);
}

TEST(Add, RefusesAnInputScaleThatDwarfsTheOutputs) {
  const NodeInput x{stepping_codes({4}, 1, 0), per_tensor(4096, 0)};
  EXPECT_THAT(refusal_of(Add{}, {x, x}, per_tensor(0.0001, 0)),
              HasSubstr("input scale is 2^21 times the output scale"));
}

// From here on the expected values are PyTorch's: dequantize, torch.add(..., alpha=...), quantize.
const NodeInput kA{stepping_codes({1, 2, 3, 4}, 37, 11), per_tensor(0.031, -7)};
const NodeInput kB{stepping_codes({1, 2, 3, 4}, 59, 200), per_tensor(0.0123, 19)};

TEST(Add, IsWhatPyTorchComputes) {
  EXPECT_THAT(codes_of(evaluate_node(Add{}, {kA, kB}, per_tensor(0.04, 3))),
              ElementsAre(-66, -98, -51, -4, 43, 89, 58, -94, -47, 0, -32, 14, 61, 108, -122, -75, -29, 18, 65, 33, 80,
                          -72, -25, -57));
  EXPECT_THAT(codes_of(evaluate_node(Add{.alpha = -1}, {kA, kB}, per_tensor(0.035, -4))),
              ElementsAre(-120, -18, -6, 6, 18, 30, 127, -83, -71, -59, 43, 56, 68, 80, -45, -33, -21, -9, 3, 105, 117,
                          -98, -86, 16));
  EXPECT_THAT(codes_of(evaluate_node(Add{.min = 0}, {kA, kB}, per_tensor(0.02, -128))),
              ElementsAre(-128, -128, -128, -128, -49, 45, -19, -128, -128, -128, -128, -105, -11, 82, -128, -128, -128,
                          -97, -4, -68, 26, -128, -128, -128));
  EXPECT_THAT(codes_of(evaluate_node(Add{.alpha = -2.5}, {kA, kB}, per_tensor(0.05, 0))),
              ElementsAre(-101, 43, 30, 17, 3, -10, 127, -38, -51, -65, 79, 66, 53, 39, 25, 11, -2, -15, -29, 115, 102,
                          -70, -83, 61));
}

TEST(Add, BroadcastsAsPyTorchDoes) {
  const NodeInput a{stepping_codes({1, 1, 4, 1}, 91, 5), per_tensor(0.031, -7)};
  const NodeInput b{stepping_codes({2, 1, 3}, 17, 60), per_tensor(0.0123, 19)};
  const HostTensor sum = evaluate_node(Add{}, {a, b}, per_tensor(0.03, 1));
  EXPECT_EQ(sum.shape(), (Shape{1, 2, 4, 3}));
  EXPECT_THAT(codes_of(sum), ElementsAre(-128, -128, -128, -61, -54, -47, 34, 41, 47, -128, -128, -123, -128, -127,
                                         -120, -40, -33, -26, 54, 61, 68, -116, -109, -102));
}

}  // namespace
}  // namespace rush
