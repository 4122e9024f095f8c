// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ops/conv2d/conv2d_op.h"
#include "ops/depthwise_conv2d/depthwise_conv2d.h"
#include "ops/op_def.h"
#include "tests/support/contract_check.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;

struct DepthwiseCase {
  Shape x;  ///< NHWC
  int64_t multiplier;
  std::vector<int64_t> kernel;
  Conv2d conv = {};
  std::optional<int64_t> zero_point = {};
  double output_steps = 60;  ///< typical outputs are so many codes from the zero point
};

Graph depthwise_graph(const DepthwiseCase& c, uint64_t seed, bool with_bias) {
  GraphBuilder b(seed);
  Conv2d conv = c.conv;
  conv.layout = "nhwc";
  conv.groups = c.x[3];
  TensorType type = b.int8_type(c.x);
  if (c.zero_point) type.quant->zero_point[0] = *c.zero_point;
  const TensorId x = b.input(type);
  const int64_t taps = c.kernel[0] * c.kernel[1];
  const TensorId w = b.weights({c.x[3] * c.multiplier, c.kernel[0], c.kernel[1], 1});
  std::vector<TensorId> inputs{x, w};
  if (with_bias) inputs.push_back(b.bias(x, w, taps));
  Quant out = random_quant(b.random());
  out.scale[0] = type.quant->scale[0] * 0.008 * 5000 * std::sqrt(static_cast<double>(taps)) / c.output_steps;
  b.output(b.node(conv, inputs, out));
  return b.graph();
}

void check_depthwise(const std::string& name, const DepthwiseCase& c) {
  for (const bool with_bias : {true, false}) {
    const uint64_t seed = 0xd0 + static_cast<uint64_t>(element_count(c.x) * 31) * 2 + (with_bias ? 1 : 0);
    const Graph graph = depthwise_graph(c, seed, with_bias);
    const Program program = lower_graph(graph, Isa::kScalar, "cortex-m0");
    EXPECT_EQ(program.steps.at(0).family->name, "depthwise_conv2d_s8") << name;
    check_op(graph, name, seed);
  }
}

TEST(DepthwiseConv2d, EveryTailOfChannels) {
  for (int64_t channels = 2; channels <= 18; ++channels)
    check_depthwise("depthwise_tail", {{1, 4, 3, channels}, 1, {3, 3}, {.padding = {1, 1, 1, 1}}});
  check_depthwise("depthwise_40", {{1, 3, 3, 40}, 1, {3, 3}});
  check_depthwise("depthwise_257", {{1, 2, 2, 257}, 1, {2, 2}});
}

TEST(DepthwiseConv2d, WholeWords) {
  for (const int64_t channels : {4, 8, 20})
    for (const int64_t k : {1, 2, 3, 5, 6})
      check_depthwise("depthwise_words", {{1, 7, 6, channels}, 1, {k, k}, {.padding = {k / 2, k / 2, k - 1, 0}}});
  check_depthwise("depthwise_words_25_taps", {{1, 25, 1, 8}, 1, {25, 1}, {.padding = {3, 12, 0, 0}}, 127});
  check_depthwise("depthwise_words_26_taps", {{1, 14, 2, 4}, 1, {13, 2}, {.padding = {3, 2, 0, 1}}, -128});
  check_depthwise("depthwise_words_dilated",
                  {{1, 9, 8, 4}, 2, {3, 3}, {.stride = {2, 1}, .padding = {2, 2, 3, 3}, .dilation = {2, 3}}});
  check_depthwise("depthwise_words_relu", {{1, 5, 6, 8}, 3, {3, 3}, {.stride = {1, 2}, .min = 0, .max = 1}});
  check_depthwise("depthwise_words_batch", {{2, 4, 3, 4}, 1, {3, 3}, {.padding = {1, 1, 1, 1}}});
  for (const double steps : {1e-12, 1e-4, 4000.0, 1e5, 1e9})
    check_depthwise("depthwise_words_scale", {{1, 3, 3, 8}, 1, {2, 2}, {}, {}, steps});
}

TEST(DepthwiseConv2d, Multipliers) {
  for (const int64_t channels : {2, 3, 4, 7, 8, 9})
    for (const int64_t multiplier : {2, 3, 5})
      check_depthwise("depthwise_multiplier", {{1, 3, 4, channels}, multiplier, {2, 3}, {.padding = {1, 0, 1, 1}}});
}

TEST(DepthwiseConv2d, KernelsOfAllShapes) {
  for (int64_t k = 1; k <= 7; ++k) {
    const std::vector<int64_t> around{k / 2, k - 1 - k / 2, k / 2, k - 1 - k / 2};
    check_depthwise("depthwise_square", {{1, 7, 6, 6}, 1, {k, k}, {.padding = around}});
    check_depthwise("depthwise_row", {{1, 1, 9, 9}, 1, {1, k}, {.padding = {0, 0, k - 1, 0}}});
    check_depthwise("depthwise_column", {{1, 15, 1, 10}, 1, {2 * k + 1, 1}});
  }
}

TEST(DepthwiseConv2d, StridesDilationsAndPadding) {
  check_depthwise("depthwise_stride_2", {{1, 7, 8, 9}, 1, {3, 3}, {.stride = {2, 2}, .padding = {0, 1, 0, 1}}});
  check_depthwise("depthwise_stride_3", {{1, 11, 10, 6}, 1, {2, 3}, {.stride = {3, 1}, .padding = {2, 2, 0, 3}}});
  check_depthwise("depthwise_dilated", {{1, 9, 8, 5}, 1, {3, 3}, {.padding = {2, 2, 3, 3}, .dilation = {2, 3}}});
  check_depthwise("depthwise_only_padding", {{1, 1, 1, 5}, 1, {3, 3}, {.stride = {2, 2}, .padding = {6, 6, 6, 6}}});
}

TEST(DepthwiseConv2d, BatchesClampsZeroPointsAndScales) {
  check_depthwise("depthwise_batch", {{3, 4, 3, 5}, 2, {3, 3}, {.padding = {1, 1, 1, 1}}});
  check_depthwise("depthwise_relu6", {{1, 4, 4, 5}, 1, {3, 3}, {.min = 0, .max = 6}});
  for (const int64_t zero_point : {-128, 0, 127})
    check_depthwise("depthwise_zero_point", {{1, 3, 4, 9}, 1, {3, 3}, {.padding = {1, 1, 1, 1}}, zero_point});
  for (const double steps : {1e-12, 1e-4, 4000.0, 1e5, 1e7, 1e9, 1e12})
    check_depthwise("depthwise_scale", {{1, 3, 3, 9}, 1, {2, 2}, {}, {}, steps});
}

TEST(DepthwiseConv2d, RandomGeometry) {
  Random random(78);
  for (int i = 0; i < 40; ++i) {
    const int64_t kernel_rows = random.integer(1, 5), kernel_columns = random.integer(1, 5);
    const Conv2d conv{
        .stride = {random.integer(1, 3), random.integer(1, 3)},
        .padding = {random.integer(0, 3), random.integer(0, 3), random.integer(0, 3), random.integer(0, 3)},
        .dilation = {random.chance(0.3) ? 2 : 1, random.chance(0.3) ? 2 : 1}};
    const int64_t rows = (kernel_rows - 1) * conv.dilation[0] + random.integer(1, 5);
    const int64_t columns = (kernel_columns - 1) * conv.dilation[1] + random.integer(1, 6);
    check_depthwise(
        "depthwise_random",
        {{1, rows, columns, random.integer(2, 20)}, random.integer(1, 2), {kernel_rows, kernel_columns}, conv});
  }
}

DepthwiseConv2dParams small_params() {
  return {.geometry = {.in = {12, 4, 0},
                       .out = {12, 3, 0},
                       .in_height = 4,
                       .in_width = 4,
                       .out_height = 3,
                       .out_width = 2,
                       .kernel_height = 2,
                       .kernel_width = 3,
                       .stride_height = 1,
                       .stride_width = 1,
                       .dilation_height = 1,
                       .dilation_width = 1,
                       .pad_top = 0,
                       .pad_left = 0},
          .channels = 3,
          .multiplier = 2,
          .zero_point = 0,
          .reserved = {},
          .codes = {0, -128, 127, 0}};
}

TEST(DepthwiseConv2d, ExtentsAreWhatTheKernelTouches) {
  const DepthwiseConv2dParams params = small_params();
  Extents extents{};
  ASSERT_TRUE(depthwise_conv2d_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 4), ElementsAre(48, 36, 36, 64));
  EXPECT_EQ(extents.rows, 3u);
}

TEST(DepthwiseConv2d, WhateverExtentsAcceptStaysInside) {
  check_contract<DepthwiseConv2dParams>(depthwise_conv2d_s8_contract, depthwise_conv2d_s8_scalar, small_params(), 42);
  DepthwiseConv2dParams ring = small_params();
  ring.geometry.in = {12, 3, 10923};
  check_contract<DepthwiseConv2dParams>(depthwise_conv2d_s8_contract, depthwise_conv2d_s8_scalar, ring, 46);
}

// PyTorch's: dequantize, pad, conv2d in float64, clamp, quantize. Element i of x is (37 i + 11) mod 256 - 128, of w
// (91 i + 5) mod 256 - 128. None is a tie.
TEST(DepthwiseConv2d, IsWhatPyTorchComputes) {
  Quant weight;
  weight.scale = {0.02, 0.011, 0.03, 0.004, 0.017, 0.009};
  weight.zero_point.assign(6, 0);
  weight.axis = 0;
  const std::vector<NodeInput> inputs{
      {stepping_codes({1, 4, 3, 3}, 37, 11), per_tensor(0.031, -128)},
      {stepping_codes({6, 3, 3, 1}, 91, 5), weight},
      {make_tensor<int32_t>(DType::kInt32, {6}, {10, -20, 3000, -400, 5000, 66}), std::nullopt}};
  const Conv2d conv{.padding = {1, 1, 1, 1}, .groups = 3, .layout = "nhwc", .min = 0, .max = 60};
  EXPECT_THAT(codes_of(evaluate_node(conv, inputs, per_tensor(0.6, -128))),
              testing::ElementsAreArray({-99,  -128, -128, -128, -128, -121, -115, -108, -72,  -128, -107, -128,
                                         -128, -128, -103, -126, -114, -128, -104, -100, -126, -128, -128, -120,
                                         -128, -119, -92,  -128, -89,  -128, -128, -128, -88,  -128, -119, -128,
                                         -110, -109, -128, -128, -128, -121, -128, -128, -128, -126, -94,  -128,
                                         -128, -128, -57,  -128, -120, -128, -128, -113, -123, -125, -128, -124,
                                         -128, -117, -128, -128, -117, -128, -128, -126, -75,  -128, -119, -128}));
}

}  // namespace
}  // namespace rush
