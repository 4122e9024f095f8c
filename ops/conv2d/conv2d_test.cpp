// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/conv2d/conv2d_packing.h"
#include "ops/conv2d/conv2d_tiles.h"
#include "ops/conv2d/conv2d_two_positions.h"
#include "tests/support/contract_check.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal_of(const Graph& graph) {
  try {
    (void)lower_graph(graph, Isa::kScalar, "cortex-m0");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

struct ConvCase {
  Shape x;  ///< NHWC
  int64_t outputs;
  std::vector<int64_t> kernel;
  Conv2d conv = {};
  std::optional<int64_t> zero_point = {};
  double output_steps = 60;  ///< typical outputs are so many codes from the zero point
};

TensorId add_conv(GraphBuilder& b, const ConvCase& c, bool with_bias) {
  Conv2d conv = c.conv;
  conv.layout = "nhwc";
  TensorType type = b.int8_type(c.x);
  if (c.zero_point) type.quant->zero_point[0] = *c.zero_point;
  const TensorId x = b.input(type);
  const int64_t terms = c.kernel[0] * c.kernel[1] * c.x[3] / conv.groups;
  const TensorId w = b.weights({c.outputs, c.kernel[0], c.kernel[1], c.x[3] / conv.groups});
  std::vector<TensorId> inputs{x, w};
  if (with_bias) inputs.push_back(b.bias(x, w, terms));
  Quant out = random_quant(b.random());
  out.scale[0] = type.quant->scale[0] * 0.008 * 5000 * std::sqrt(static_cast<double>(terms)) / c.output_steps;
  return b.node(conv, inputs, out);
}

void check_conv(const std::string& name, const ConvCase& c) {
  for (const bool with_bias : {true, false}) {
    const uint64_t seed = 0xc0 + static_cast<uint64_t>(element_count(c.x) * 31 + c.outputs) * 2 + (with_bias ? 1 : 0);
    GraphBuilder b(seed);
    b.output(add_conv(b, c, with_bias));
    check_op(b.graph(), name, seed);
  }
}

void check_float(const std::string& name, const ConvCase& c) {
  const uint64_t seed = 0xf32 + static_cast<uint64_t>(element_count(c.x));
  GraphBuilder b(seed);
  Conv2d conv = c.conv;
  conv.layout = "nhwc";
  const TensorId x = b.input(GraphBuilder::float_type(c.x));
  const TensorId w = b.constant(GraphBuilder::float_type({c.outputs, c.kernel[0], c.kernel[1], c.x[3] / conv.groups}));
  b.output(b.node(conv, {x, w, b.constant(GraphBuilder::float_type({c.outputs}))}));
  b.output(b.node(conv, {x, w}));
  check_op(b.graph(), name, seed);
}

TEST(Conv2d, EveryTailOfPixelsOutputsAndInputs) {
  for (int64_t n = 1; n <= 17; ++n) {
    check_conv("pointwise_tail", {{1, 2, n % 5 + 1, n}, 18 - n, {1, 1}});
    check_conv("conv_tail", {{1, 4, n % 4 + 2, n}, (n * 5) % 11 + 1, {2, 2}});
  }
  check_conv("conv_24_40", {{1, 3, 3, 24}, 40, {3, 3}});
  check_conv("conv_257", {{1, 1, 3, 257}, 5, {1, 2}});
  check_conv("pointwise_257_outputs", {{1, 2, 2, 3}, 257, {1, 1}});
}

TEST(Conv2d, BlocksOfEightOutputs) {
  for (const int64_t outputs : {8, 11, 12, 15, 16, 23}) {
    check_conv("eights", {{1, 5, 4, 6}, outputs, {3, 3}, {.padding = {1, 1, 1, 1}}});
    check_conv("eights_pointwise", {{1, 3, 3, 7}, outputs, {1, 1}, {.min = 0}});
  }
  check_conv("eights_rows", {{1, 6, 5, 33}, 16, {3, 2}, {.stride = {2, 1}, .padding = {1, 1, 0, 0}}});
  check_conv("eights_dilated", {{1, 7, 6, 9}, 8, {3, 1}, {.dilation = {2, 1}}, -128});
  check_conv("eights_of_groups", {{1, 4, 4, 10}, 32, {2, 2}, {.groups = 2}, 127});
}

TEST(Conv2d, KernelsOfAllShapes) {
  for (int64_t k = 1; k <= 7; ++k) {
    const std::vector<int64_t> around{k / 2, k - 1 - k / 2, k / 2, k - 1 - k / 2};
    check_conv("square", {{1, 7, 6, 3}, 6, {k, k}, {.padding = around}});
    check_conv("row", {{1, 2, 9, 5}, 4, {1, k}, {.padding = {0, 0, k - 1, 0}}});
    check_conv("column", {{1, 9, 1, 5}, 4, {k, 1}, {.padding = {0, k - 1, 0, 0}}});
  }
  check_conv("stem", {{1, 13, 10, 1}, 8, {10, 4}, {.stride = {2, 2}, .padding = {4, 5, 1, 1}}});
}

TEST(Conv2d, EveryNumberOfChunksAndRowsThatTilesHave) {
  const std::vector<int64_t> around{1, 1, 1, 1};
  for (const int64_t inputs : {16, 24, 40, 64, 80, 112, 128, 144, 250, 300, 1001})
    check_conv("chunks", {{1, 3, 3, inputs}, 9, {1, 1}});
  for (const int64_t inputs : {3, 5, 16, 32, 43, 66}) {
    check_conv("three_rows", {{1, 5, 9, inputs}, 8, {3, 3}, {.padding = around}});
    check_conv("three_rows_stride_2", {{1, 8, 8, inputs}, 12, {3, 3}, {.stride = {2, 2}, .padding = {0, 1, 0, 1}}});
    check_conv("three_rows_odd", {{1, 5, 6, inputs}, 5, {3, 3}, {.padding = around}});
  }
  check_conv("two_rows", {{1, 5, 7, 20}, 8, {2, 3}});
  check_conv("five_rows", {{1, 9, 8, 11}, 16, {5, 5}, {.padding = {2, 2, 2, 2}}});
  check_conv("five_long_rows", {{1, 6, 8, 36}, 4, {5, 5}, {.padding = {2, 2, 2, 2}}});
  check_conv("six_rows", {{1, 8, 8, 20}, 8, {6, 3}});
  check_conv("dense_odd", {{1, 5, 5, 8}, 20, {1, 1}});
  check_conv("many_windows", {{1, 9, 31, 2}, 8, {4, 2}, {.stride = {2, 2}, .padding = {1, 1, 0, 1}}});
}

TEST(Conv2d, StridesDilationsAndPadding) {
  check_conv("stride_1x2", {{1, 8, 9, 3}, 5, {3, 5}, {.stride = {1, 2}, .padding = {2, 2, 2, 2}, .dilation = {2, 1}}});
  check_conv("stride_3", {{1, 10, 11, 4}, 6, {3, 3}, {.stride = {3, 3}, .padding = {1, 0, 0, 1}}});
  check_conv("stride_beyond_kernel", {{1, 9, 9, 6}, 3, {2, 2}, {.stride = {4, 3}}});
  check_conv("strided_pointwise", {{1, 6, 7, 20}, 9, {1, 1}, {.stride = {2, 2}}});
  check_conv("dilated", {{1, 9, 8, 7}, 5, {3, 3}, {.padding = {2, 2, 2, 2}, .dilation = {2, 2}}});
  check_conv("dilated_rows", {{1, 11, 5, 18}, 5, {3, 1}, {.padding = {4, 4, 0, 0}, .dilation = {4, 1}}});
  check_conv("padded_pointwise", {{1, 3, 4, 5}, 6, {1, 1}, {.padding = {1, 2, 0, 3}}});
  check_conv("only_padding", {{1, 1, 1, 5}, 6, {3, 3}, {.stride = {2, 2}, .padding = {6, 6, 6, 6}}});
  check_conv("dilated_beyond_map", {{1, 3, 3, 4}, 5, {3, 3}, {.padding = {5, 5, 5, 5}, .dilation = {5, 5}}});
}

TEST(Conv2d, Groups) {
  check_conv("groups_2", {{1, 5, 6, 8}, 6, {3, 3}, {.padding = {1, 1, 1, 1}, .groups = 2}});
  check_conv("groups_pointwise", {{1, 3, 5, 12}, 9, {1, 1}, {.groups = 3}});
  check_conv("groups_one_output", {{1, 4, 4, 6}, 3, {2, 2}, {.stride = {2, 1}, .groups = 3}});
  check_conv("groups_dilated", {{1, 7, 7, 34}, 4, {3, 2}, {.dilation = {1, 2}, .groups = 2}});
}

TEST(Conv2d, Batches) {
  check_conv("batch", {{3, 4, 5, 6}, 7, {3, 3}, {.padding = {1, 1, 1, 1}}});
  check_conv("batch_groups", {{2, 3, 3, 4}, 6, {2, 2}, {.groups = 2}});
  check_conv("batch_pointwise", {{4, 1, 3, 5}, 6, {1, 1}});
}

TEST(Conv2d, ZeroPointsAtTheEnds) {
  for (const int64_t zero_point : {-128, 0, 127})
    check_conv("zero_point", {{1, 5, 4, 9}, 5, {3, 3}, {.padding = {1, 1, 1, 1}}, zero_point});
}

TEST(Conv2d, ScalesAtTheEnds) {
  // From outputs that all round to the zero point, past shift 31, to accumulators shifted left until they saturate.
  for (const double steps : {1e-12, 1e-4, 2.0, 4000.0, 1e5, 1e7, 1e9, 1e12})
    check_conv("scale", {{1, 3, 3, 6}, 9, {2, 2}, {.padding = {1, 1, 1, 1}}, {}, steps});
}

TEST(Conv2d, FusedClamps) {
  check_conv("relu", {{1, 4, 4, 5}, 6, {3, 3}, {.min = 0}});
  check_conv("narrow", {{1, 4, 4, 5}, 6, {3, 3}, {.min = -0.5, .max = 0.75}});
}

TEST(Conv2d, RandomGeometry) {
  Random random(77);
  for (int i = 0; i < 60; ++i) {
    const int64_t groups = random.chance(0.2) ? random.integer(2, 3) : 1;
    const int64_t kernel_rows = random.integer(1, 5), kernel_columns = random.integer(1, 5);
    Conv2d conv{.stride = {random.integer(1, 3), random.integer(1, 3)},
                .padding = {random.integer(0, 3), random.integer(0, 3), random.integer(0, 3), random.integer(0, 3)},
                .dilation = {random.chance(0.3) ? 2 : 1, random.chance(0.3) ? 2 : 1},
                .groups = groups};
    const int64_t rows = (kernel_rows - 1) * conv.dilation[0] + random.integer(1, 5);
    const int64_t columns = (kernel_columns - 1) * conv.dilation[1] + random.integer(1, 6);
    check_conv("random", {{1, rows, columns, groups * random.integer(2, 20)},
                          groups * random.integer(1, 9),
                          {kernel_rows, kernel_columns},
                          conv});
  }
}

TEST(Conv2d, Float) {
  check_float("f32", {{1, 5, 6, 7}, 5, {3, 3}, {.stride = {2, 1}, .padding = {1, 1, 0, 2}, .dilation = {1, 2}}});
  check_float("f32_groups", {{2, 4, 3, 6}, 9, {2, 1}, {.groups = 3, .min = -1, .max = 2}});
  check_float("f32_depthwise", {{1, 4, 3, 5}, 10, {3, 3}, {.padding = {1, 1, 1, 1}, .groups = 5}});
}

TEST(Conv2d, ReadsOnlyTheRowsThatItDeclares) {
  GraphBuilder b(3);
  const TensorId x = b.input(b.int8_type({1, 19, 4, 2}));
  const Conv2d conv{.stride = {2, 1}, .padding = {3, 3, 0, 0}, .dilation = {3, 1}, .layout = "nhwc"};
  b.output(b.node(conv, {x, b.weights({3, 3, 1, 2})}, random_quant(b.random())));
  const Program program = lower_graph(b.graph(), Isa::kScalar, "cortex-m0");
  ASSERT_EQ(program.steps[0].row_dependencies.size(), 1u);
  // Output row 0 ends at input row 0 - 3 + 6, output row y at 2 * y + 3; a window spans 7 rows.
  EXPECT_EQ(program.steps[0].row_dependencies[0].stride, 2);
  EXPECT_EQ(program.steps[0].row_dependencies[0].lead, 2);
  EXPECT_EQ(program.steps[0].row_dependencies[0].span, 7);
  EXPECT_EQ(program.steps[0].macs, 10u * 4 * 3 * 3 * 2);
}

TEST(Conv2d, ChannelScaleIsTheNearestMultiplierWhoseLowByteIsTheShift) {
  for (const double scale : {0.0123, 0.2499999, 0.25, 0.7, 3.0, 0x1p-33, 0x1.fffffep-5, 1e-20}) {
    const Multiplier exact = *quantize_multiplier(scale), m = with_shift(exact);
    EXPECT_EQ(m.shift, exact.shift);
    EXPECT_EQ(shift_of(m.multiplier), exact.shift);
    EXPECT_GE(m.multiplier, 1 << 30);
    EXPECT_LE(std::abs(int64_t{m.multiplier} - exact.multiplier), 255) << scale;
    const bool at_an_end = exact.multiplier < (1 << 30) + 256 || exact.multiplier > INT32_MAX - 256;
    EXPECT_TRUE(at_an_end || std::abs(int64_t{m.multiplier} - exact.multiplier) <= 128) << scale;
  }
}

TEST(Conv2d, PackingPermutesTheWeights) {
  for (const size_t outputs : {1, 2, 3, 4, 7, 8})
    for (const size_t segment : {1, 3, 4, 16, 17, 33})
      for (const size_t chunk : {1, 4, 16}) {
        const BlockedWeights weights{outputs, 3, segment, chunk == 1 ? 4u : 2u, chunk};
        std::vector<int> seen(outputs * 3 * segment);
        for (size_t i = 0; i < seen.size(); ++i) ++seen.at(static_cast<size_t>(canonical_weight(weights, i)));
        EXPECT_THAT(seen, testing::Each(1)) << outputs << ' ' << segment << ' ' << chunk;
      }
}

TEST(Conv2d, PortablePackingPermutesTheWeights) {
  for (const size_t outputs : {1, 3, 4, 7, 8, 11, 12, 16, 21})
    for (const size_t inputs : {1, 2, 9}) {
      std::vector<int> seen(outputs * inputs);
      for (size_t i = 0; i < seen.size(); ++i) ++seen.at(static_cast<size_t>(scalar_weight(outputs, inputs, i)));
      EXPECT_THAT(seen, testing::Each(1)) << outputs << ' ' << inputs;
    }
}

TEST(Conv2d, PortablePackingInterleavesEightThenFourOutputs) {
  std::vector<int64_t> order, inverted;
  for (size_t i = 0; i < 26; ++i) {
    order.push_back(scalar_weight(13, 2, i));
    inverted.push_back(scalar_weight_inverted(13, 2, i));
  }
  EXPECT_THAT(order, ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15,  // outputs 0 to 7
                                 16, 18, 20, 22, 17, 19, 21, 23, 24, 25));              // 8 to 11, then 12
  std::vector<int64_t> expected(24, 0x80);
  expected.resize(26, 0);
  EXPECT_EQ(inverted, expected);
}

TEST(Conv2d, PackingForTwoPositionsInterleavesTwoOutputs) {
  std::vector<int64_t> order, odd;
  for (size_t i = 0; i < 16; ++i) order.push_back(two_positions_weight(4, i));
  EXPECT_THAT(order, ElementsAre(0, 4, 5, 1, 2, 6, 7, 3, 8, 12, 13, 9, 10, 14, 15, 11));
  for (size_t i = 0; i < 8; ++i) odd.push_back(two_positions_weight(3, i));
  EXPECT_THAT(odd, ElementsAre(0, 3, 4, 1, 2, 5, -1, -1));
}

TEST(Conv2d, TwoPositionsAreExactUnlessBothWeightsOfAWordAreLeast) {
  const std::vector<int8_t> weights = {1, -128, -128, -128, 1, -128};
  EXPECT_TRUE(two_positions_are_exact(weights, 3));   // words (1, -128), (-128); (-128, 1), (-128)
  EXPECT_FALSE(two_positions_are_exact(weights, 6));  // (1, -128), (-128, -128), (1, -128)
}

/// A pointwise convolution from 6 to 8 channels, all of whose weights are `weight` but the first two.
Graph pointwise_graph(int8_t first, int8_t second, int8_t weight) {
  GraphBuilder b(5);
  std::vector<int8_t> codes(48, weight);
  codes[0] = first;
  codes[1] = second;
  const TensorId x = b.input({DType::kInt8, {1, 3, 3, 6}, per_tensor(0.5, -3)});
  const TensorId w = b.constant(make_tensor(DType::kInt8, {8, 1, 1, 6}, codes), per_tensor(0.25, 0));
  b.output(b.node(Conv2d{.layout = "nhwc"}, {x, w}, per_tensor(90, 7)));
  return b.graph();
}

bool takes_two_positions(const Graph& graph) {
  return lower_graph(graph, Isa::kScalar, "cortex-m0").steps.at(0).family->name == "conv2d_two_positions_s8";
}

TEST(Conv2d, TwoPositionsAreTakenWhereTheyAreExact) {
  EXPECT_TRUE(takes_two_positions(pointwise_graph(-128, -127, 127)));
  EXPECT_FALSE(takes_two_positions(pointwise_graph(-128, -128, 127)));
  EXPECT_FALSE(takes_two_positions(pointwise_graph(0, 0, -128)));
  check_op(pointwise_graph(-128, -127, 127), "two_positions_positive", 5);
  check_op(pointwise_graph(-127, -128, -127), "two_positions_negative", 5);
  check_op(pointwise_graph(-128, -128, -128), "one_position", 5);
}

TEST(Conv2d, PackingInterleavesChunksOfABlock) {
  // Two outputs of one segment of six: chunks of four, then the rest.
  const BlockedWeights weights{2, 1, 6, 2, 4};
  std::vector<int64_t> order;
  for (size_t i = 0; i < 12; ++i) order.push_back(canonical_weight(weights, i));
  EXPECT_THAT(order, ElementsAre(0, 1, 2, 3, 6, 7, 8, 9, 4, 5, 10, 11));
}

Conv2dParams small_params() {
  return {.geometry = {.in = {8, 4, 0},
                       .out = {9, 3, 0},
                       .in_height = 4,
                       .in_width = 4,
                       .out_height = 3,
                       .out_width = 3,
                       .kernel_height = 2,
                       .kernel_width = 2,
                       .stride_height = 1,
                       .stride_width = 1,
                       .dilation_height = 1,
                       .dilation_width = 1,
                       .pad_top = 0,
                       .pad_left = 0},
          .in_pixel = 2,
          .out_pixel = 3,
          .in_channels = 2,
          .out_channels = 3,
          .zero_point = 0,
          .gather = 0,
          .codes = {0, -128, 127, 0},
          .reserved = 0};
}

TEST(Conv2d, ExtentsAreWhatTheKernelTouches) {
  const Conv2dParams params = small_params();
  Extents extents{};
  ASSERT_TRUE(conv2d_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5), ElementsAre(32, 27, 24, 32, 0));
  EXPECT_EQ(extents.rows, 3u);
}

TEST(Conv2d, ExtentsRefuseWhatWouldReachOutside) {
  const auto change = [](auto edit) {
    Conv2dParams params = small_params();
    edit(params);
    Extents extents{};
    if (!conv2d_s8_contract.extents(&params, &extents)) return false;
    return std::ranges::all_of(extents.bytes, [](uint32_t bytes) { return bytes < kOperandOffsetMask; });
  };
  EXPECT_TRUE(change([](auto&) {}));
  EXPECT_FALSE(change([](auto& p) { p.in_pixel = 3; }));
  EXPECT_FALSE(change([](auto& p) { p.in_channels = 3; }));
  EXPECT_FALSE(change([](auto& p) { p.out_channels = 4; }));
  EXPECT_FALSE(change([](auto& p) { p.in_channels = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.out_channels = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.in_width = 5; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.out_width = 4; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.in_height = 5; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.out_height = 4; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.stride_width = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.dilation_width = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.kernel_height = p.geometry.kernel_width = 0xffff; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.dilation_height = p.geometry.kernel_height = 0xffff; }));
  EXPECT_FALSE(change([](auto& p) { p.geometry.in.reciprocal = 1 << 13, p.geometry.dilation_height = 5; }));
}

TEST(Conv2d, WhateverExtentsAcceptStaysInside) {
  check_contract<Conv2dParams>(conv2d_s8_contract, conv2d_s8_scalar, small_params(), 41);
  Conv2dParams ring = small_params();
  ring.geometry.in = {8, 3, 10923};
  check_contract<Conv2dParams>(conv2d_s8_contract, conv2d_s8_scalar, ring, 44);
  Conv2dParams pointwise = small_params();
  pointwise.geometry.kernel_height = pointwise.geometry.kernel_width = 1;
  pointwise.geometry.out_height = pointwise.geometry.out_width = 4;
  pointwise.geometry.out = {12, 4, 0};
  check_contract<Conv2dParams>(conv2d_s8_contract, conv2d_s8_scalar, pointwise, 48);
}

TEST(Conv2d, TilesAreMadeUpToChunksAndBlocks) {
  Conv2dParams params = small_params();
  Extents extents{};
  EXPECT_FALSE(conv2d_tiles_s8_contract.extents(&params, &extents));  // two rows of one chunk
  EXPECT_FALSE(conv2d_rows_s8_contract.extents(&params, &extents));
  params.gather = 1;
  ASSERT_TRUE(conv2d_tiles_s8_contract.extents(&params, &extents));
  // Eight inputs are one chunk, three outputs one block; two rows of four pixels and a chunk each, 32 windows.
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5),
              ElementsAre(32, 27, 64, 32, kTileWalkBytes + 2 * (8 + kTileChunk) + kTileWindowBytes));
  params.codes.left_shift = 1;
  EXPECT_FALSE(conv2d_tiles_s8_contract.extents(&params, &extents));
}

TEST(Conv2d, TilePackingNamesEveryWeightOnce) {
  for (const int gather : {0, 1})
    for (const int channels : {1, 2, 6, 17}) {
      Conv2dParams params = small_params();
      params.gather = static_cast<uint8_t>(gather);
      params.in_channels = static_cast<uint16_t>(channels);
      const Packing& packing = conv2d_rows_s8_host.packing;
      std::vector<int> seen(packing.canonical_count(&params));
      size_t padding = 0;
      for (size_t i = 0; i < packing.packed_count(Isa::kMve, &params); ++i) {
        const int64_t index = packing.index(Isa::kMve, &params, i);
        index < 0 ? ++padding : static_cast<size_t>(++seen.at(static_cast<size_t>(index)));
      }
      EXPECT_THAT(seen, testing::Each(1));
      EXPECT_EQ(padding + seen.size(), packing.packed_count(Isa::kMve, &params));
    }
}

TEST(Conv2d, WhateverTwoPositionsExtentsAcceptStaysInside) {
  Conv2dParams params = small_params();
  params.out_channels = params.out_pixel = 8;
  params.geometry.out.row_bytes = 24;
  check_contract<Conv2dParams>(conv2d_two_positions_s8_contract, conv2d_two_positions_s8_scalar, params, 51);
  params.in_channels = 1;  // an odd number of inputs
  params.geometry.kernel_width = 1;
  params.geometry.kernel_height = 3;
  check_contract<Conv2dParams>(conv2d_two_positions_s8_contract, conv2d_two_positions_s8_scalar, params, 52);
}

TEST(Conv2d, WhateverTileExtentsAcceptStaysInside) {
  Conv2dParams gathered = small_params();
  gathered.gather = 1;
  check_contract<Conv2dParams>(conv2d_tiles_s8_contract, conv2d_tiles_s8_scalar, gathered, 49);
  Conv2dParams rows = small_params();
  rows.in_pixel = rows.in_channels = 20;
  rows.geometry.in.row_bytes = 80;
  check_contract<Conv2dParams>(conv2d_rows_s8_contract, conv2d_rows_s8_scalar, rows, 50);
}

TEST(Conv2d, WhateverFloatExtentsAcceptStaysInside) {
  Conv2dF32Params params = {.geometry = small_params().geometry,
                            .groups = 1,
                            .group_in = 2,
                            .group_out = 3,
                            .reserved = 0,
                            .min = -1,
                            .max = 1};
  params.geometry.in.row_bytes *= 4;
  params.geometry.out.row_bytes *= 4;
  check_contract<Conv2dF32Params>(conv2d_f32_contract, conv2d_f32_scalar, params, 45);
}

TEST(Conv2d, RefusesWhatHasNoKernel) {
  GraphBuilder b(1);
  const TensorId x = b.input(b.int8_type({1, 2, 2, 3}));
  b.output(b.node(Conv2d{.layout = "nchw"}, {x, b.weights({4, 2, 1, 1})}, random_quant(b.random())));
  EXPECT_THAT(refusal_of(b.graph()), HasSubstr("a convolution in layout nchw has no kernel"));
}

TEST(Conv2d, RefusesASumThatLeaves32Bits) {
  GraphBuilder b(1);
  const TensorId x = b.input({DType::kInt8, {1, 1, 1, 1}, per_tensor(1, 0)});
  const auto conv = [&](int32_t bias) {
    return b.node(Conv2d{.layout = "nhwc"},
                  {x, b.constant(make_tensor<int8_t>(DType::kInt8, {1, 1, 1, 1}, {2}), per_tensor(1, 0)),
                   b.constant(make_tensor<int32_t>(DType::kInt32, {1}, {bias}), per_tensor(1, 0))},
                  per_tensor(1e8, 0));
  };
  b.output(conv(INT32_MAX - 254));
  EXPECT_EQ(refusal_of(b.graph()), "");
  b.output(conv(INT32_MAX - 253));
  EXPECT_THAT(refusal_of(b.graph()), HasSubstr("the sum of output channel 0 can leave 32 bits"));
}

TEST(Conv2d, RefusesAnOutputScaleThatIsTooSmall) {
  GraphBuilder b(1);
  const TensorId x = b.input({DType::kInt8, {1, 1, 1, 1}, per_tensor(1, 0)});
  b.output(b.node(Conv2d{.layout = "nhwc"},
                  {x, b.constant(make_tensor<int8_t>(DType::kInt8, {1, 1, 1, 1}, {2}), per_tensor(1, 0))},
                  per_tensor(0x1p-31, 0)));
  EXPECT_THAT(refusal_of(b.graph()), HasSubstr("the output scale is so small"));
}

// From here on the expected values are PyTorch's: dequantize, pad, conv2d in float64, clamp, quantize. Element i of
// x is (37 i + 11) mod 256 - 128, of w (91 i + 5) mod 256 - 128. None is a tie.
struct TorchCase {
  Shape x, w;
  double x_scale;
  int64_t x_zero;
  std::vector<double> w_scales;
  std::vector<int32_t> bias;
};

std::vector<int> codes_from(const Conv2d& conv, const TorchCase& c, const Quant& out) {
  std::vector<NodeInput> inputs{{stepping_codes(c.x, 37, 11), per_tensor(c.x_scale, c.x_zero)},
                                {stepping_codes(c.w, 91, 5), channel_quant(c.w_scales)}};
  if (!c.bias.empty())
    inputs.push_back({make_tensor(DType::kInt32, {static_cast<int64_t>(c.bias.size())}, c.bias), std::nullopt});
  return codes_of(evaluate_node(conv, inputs, out));
}

TEST(Conv2d, IsWhatPyTorchComputes) {
  EXPECT_THAT(codes_from({.stride = {2, 1}, .padding = {1, 1, 1, 1}, .layout = "nhwc"},
                         {{1, 4, 5, 3}, {2, 3, 3, 3}, 0.05, -9, {0.02, 0.011}, {700, -3000}}, per_tensor(1.7, 12)),
              ElementsAre(7, 14, 13, 21, -1, 20, 11, 16, 3, 5, 30, 4, 14, 0, 17, 3, 34, 6, 19, 11));
}

TEST(Conv2d, GroupsAreWhatPyTorchComputes) {
  EXPECT_THAT(codes_from({.padding = {0, 1, 2, 0}, .dilation = {2, 1}, .groups = 2, .layout = "nhwc"},
                         {{1, 4, 4, 4}, {6, 2, 3, 2}, 0.05, 100, {0.02, 0.011, 0.03, 0.004, 0.017, 0.009}, {}},
                         per_tensor(0.9, -20)),
              testing::ElementsAreArray({-35, -17, -41, -21, -53, -13, -38, -32, 12,  -18, -37, -5,  7,   -10, -80,
                                         -21, -28, -29, -4,  -35, 15,  -14, -44, -15, -50, -7,  -41, -20, -42, -25,
                                         -25, -17, 0,   -17, -41, -11, -7,  -17, 7,   -27, -20, -18, -25, -18, -75,
                                         -19, -49, -19, -21, -20, -30, -21, -38, -10, -29, -21, -39, -23, -6,  -19,
                                         -5,  -30, -19, -15, -35, -19, -2,  -17, -62, -24, -12, -8}));
}

TEST(Conv2d, ScalesAboveAQuarterAreWhatPyTorchComputes) {
  // x: i - 128 from element 0 on; w: 3 i - 3 from element 0 on.
  const std::vector<NodeInput> inputs{{stepping_codes({1, 2, 2, 2}, 1, 128), per_tensor(0.5, 3)},
                                      {stepping_codes({2, 1, 1, 2}, 3, 125), channel_quant({0.9, 3.1})},
                                      {make_tensor<int32_t>(DType::kInt32, {2}, {30, -17}), std::nullopt}};
  EXPECT_THAT(codes_of(evaluate_node(Conv2d{.layout = "nhwc"}, inputs, per_tensor(0.75, 1))),
              ElementsAre(24, -78, 21, -40, 17, -3, 14, 34));
}

TEST(Conv2d, FloatIsWhatPyTorchComputes) {
  HostTensor x(DType::kFloat32, {1, 3, 4, 2}), w(DType::kFloat32, {3, 2, 2, 2});
  // Binary fractions: every order of summation gives the same.
  for (int64_t i = 0; i < x.size(); ++i) x.as<float>()[i] = static_cast<float>((37 * i + 11) % 256 - 128) / 16;
  for (int64_t i = 0; i < w.size(); ++i) w.as<float>()[i] = static_cast<float>((91 * i + 5) % 256 - 128) / 64;
  const HostTensor bias = make_tensor<float>(DType::kFloat32, {3}, {0.5f, -1.25f, 3.0f});
  std::vector<float> y =
      floats_of(evaluate_node(Conv2d{.padding = {1, 1, 1, 1}, .layout = "nhwc"}, {{x}, {w}, {bias}}));
  y.resize(18);
  EXPECT_THAT(
      y, ElementsAre(10.5126953125f, -12.7919921875f, -0.8466796875f, 0.001953125f, -2.888671875f, 10.970703125f,
                     -1.876953125f, 2.169921875f, 4.466796875f, -4.255859375f, 16.728515625f, 17.462890625f,
                     -9.4990234375f, -10.8974609375f, -6.2958984375f, 8.654296875f, -20.080078125f, -3.564453125f));
}

TEST(Conv2d, LayoutsAgree) {
  Random random(9);
  const TensorType x_type{DType::kFloat32, {1, 5, 4, 3}, {}}, w_type{DType::kFloat32, {6, 3, 2, 1}, {}};
  const HostTensor x = random_tensor(random, x_type), w = random_tensor(random, w_type);
  const Conv2d nhwc{.padding = {1, 0, 0, 1}, .groups = 3, .layout = "nhwc"};
  Conv2d nchw = nhwc;
  nchw.layout = "nchw";
  const HostTensor y = evaluate_node(nchw, {{permuted(x, {0, 3, 1, 2})}, {permuted(w, {0, 3, 1, 2})}});
  EXPECT_EQ(permuted(y, {0, 2, 3, 1}), evaluate_node(nhwc, {{x}, {w}}));
}

}  // namespace
}  // namespace rush
