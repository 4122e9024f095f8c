// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/emit/emit.h"
#include "compiler/execute/execute.h"
#include "compiler/host/host_program.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/depthwise_conv2d/depthwise_patch.h"
#include "ops/depthwise_conv2d/depthwise_words.h"
#include "ops/op_def.h"
#include "tests/support/contract_check.h"
#include "tests/support/device_suite.h"
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

void check_depthwise(const std::string& name, const DepthwiseCase& c, Opt opt = Opt::kBalanced) {
  for (const bool with_bias : {true, false}) {
    const uint64_t seed = 0xd0 + static_cast<uint64_t>(element_count(c.x) * 31) * 2 + (with_bias ? 1 : 0);
    const Graph graph = depthwise_graph(c, seed, with_bias);
    check_op(graph, {.name = name, .seed = seed, .opt = opt});
  }
}

void check_in_rings(const Graph& graph, const std::string& name, Opt opt = Opt::kBalanced) {
  for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
    Program program = lower_graph(graph, isa, "test", opt);
    make_chain(program, 0, static_cast<int>(program.steps.size()));
    plan_memory(program);
    const std::vector<uint8_t> image = emit_image(program, {.full_kernel_table = true});
    HostProgram host(image);
    SuiteCase suite_case{.name = name, .image = image, .runs = {}};
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Random random(seed);
      const HostTensor x = random_tensor(random, graph.type(graph.inputs[0].tensor));
      const HostTensor expected = run_graph(graph, {x}).at(0);
      EXPECT_EQ(first_difference(host.run(0, {x}).at(0), expected), "") << name << ", seed " << seed;
      suite_case.runs.push_back({0, {x}, {expected}, seed % 2 == 1});
    }
    record_case(suite_case);
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

std::string_view mve_family(const DepthwiseCase& c, Opt opt = Opt::kBalanced) {
  return lower_graph(depthwise_graph(c, 1, true), Isa::kMve, "cortex-m55", opt).steps.at(0).family->name;
}

std::string_view scalar_family(const DepthwiseCase& c) {
  return lower_graph(depthwise_graph(c, 1, true), Isa::kScalar, "cortex-m0").steps.at(0).family->name;
}

TEST(DepthwiseConv2d, SmallCoresTakeWordsWhereChannelsComeInFours) {
  const Conv2d around{.padding = {1, 1, 1, 1}};
  EXPECT_EQ(scalar_family({{1, 5, 5, 8}, 1, {3, 3}, around}), "depthwise_words_s8");
  EXPECT_EQ(scalar_family({{1, 9, 9, 4}, 2, {5, 5}, {.dilation = {2, 1}}}), "depthwise_words_s8");
  EXPECT_EQ(scalar_family({{1, 5, 5, 6}, 1, {3, 3}, around}), "depthwise_conv2d_s8");
  EXPECT_EQ(scalar_family({{1, 9, 9, 8}, 1, {5, 6}, around}), "depthwise_conv2d_s8");
  EXPECT_EQ(scalar_family({{1, 5, 5, 8}, 1, {3, 3}, around, {}, 1e7}), "depthwise_conv2d_s8");
}

TEST(DepthwiseConv2d, HeliumTakesPatchesWhereWindowsFit) {
  const Conv2d around{.padding = {1, 1, 1, 1}};
  EXPECT_EQ(mve_family({{1, 5, 5, 8}, 1, {3, 3}, around}), "depthwise_patch_s8");
  EXPECT_EQ(mve_family({{1, 5, 5, 8}, 1, {3, 4}, around}), "depthwise_patch_s8");
  EXPECT_EQ(mve_family({{1, 9, 1, 8}, 1, {5, 1}}), "depthwise_column_s8");
  EXPECT_EQ(mve_family({{1, 1, 9, 8}, 1, {1, 5}}), "depthwise_column_s8");
  EXPECT_EQ(mve_family({{1, 1, 9, 8}, 1, {1, 4}, {.stride = {1, 2}}}), "depthwise_patch_s8");
  EXPECT_EQ(mve_family({{1, 5, 5, 8}, 1, {4, 3}, around}), "depthwise_conv2d_s8");
  EXPECT_EQ(mve_family({{1, 5, 5, 6}, 1, {3, 3}, around}), "depthwise_conv2d_s8");
  EXPECT_EQ(mve_family({{1, 5, 5, 8}, 2, {3, 3}, around}), "depthwise_conv2d_s8");
  EXPECT_EQ(mve_family({{1, 9, 9, 8}, 1, {3, 3}, {.dilation = {2, 1}}}), "depthwise_conv2d_s8");
  EXPECT_EQ(mve_family({{1, 5, 5, 8}, 1, {3, 3}, around, {}, 1e7}), "depthwise_conv2d_s8");
}

TEST(DepthwiseConv2d, PatchesOfAllSizes) {
  for (const int64_t rows : {1, 2, 3, 4, 5})
    for (const int64_t columns : {1, 2, 5, 6, 9})
      check_depthwise("patch_map", {{1, rows, columns, 8}, 1, {3, 3}, {.padding = {1, 1, 1, 1}}});
  for (int64_t rows = 1; rows <= 3; ++rows)
    for (int64_t columns = 1; columns <= 4; ++columns)
      check_depthwise("patch_window", {{1, 5, 7, 4}, 1, {rows, columns}, {.padding = {0, 1, 2, 1}}});
  for (const int64_t channels : {4, 12, 20, 64}) check_depthwise("patch_channels", {{1, 4, 3, channels}, 1, {3, 3}});
}

TEST(DepthwiseConv2d, PatchesWithStridesPaddingAndClamps) {
  for (const int64_t stride : {1, 2, 3, 5})
    for (const int64_t other : {1, 2})
      check_depthwise("patch_stride", {{1, 9, 8, 8}, 1, {3, 3}, {.stride = {stride, other}, .padding = {1, 1, 0, 2}}});
  check_depthwise("patch_stride_row", {{1, 1, 17, 8}, 1, {1, 4}, {.stride = {1, 4}, .padding = {0, 0, 3, 3}}});
  check_depthwise("patch_only_padding", {{1, 1, 1, 8}, 1, {3, 3}, {.stride = {2, 1}, .padding = {6, 6, 6, 6}}});
  check_depthwise("patch_batch", {{3, 4, 3, 8}, 1, {3, 3}, {.padding = {1, 1, 1, 1}}});
  check_depthwise("patch_relu6", {{1, 4, 4, 8}, 1, {3, 3}, {.min = 0, .max = 6}});
  for (const int64_t zero_point : {-128, 0, 127})
    check_depthwise("patch_zero_point", {{1, 3, 4, 8}, 1, {3, 3}, {.padding = {1, 1, 1, 1}}, zero_point});
  for (const double steps : {1e-12, 1e-4, 4000.0, 1e5})
    check_depthwise("patch_scale", {{1, 3, 3, 8}, 1, {2, 2}, {}, {}, steps});
}

TEST(DepthwiseConv2d, CompactPatches) {
  const Conv2d around{.padding = {1, 1, 1, 1}};
  EXPECT_EQ(mve_family({{1, 5, 5, 8}, 1, {3, 3}, around}, Opt::kSize), "depthwise_compact_s8");
  EXPECT_EQ(mve_family({{1, 5, 5, 8}, 1, {2, 3}, around}, Opt::kSize), "depthwise_patch_s8");
  for (int64_t columns = 1; columns <= 4; ++columns)
    for (const int64_t channels : {4, 20})
      check_depthwise("compact", {{1, 5, 7, channels}, 1, {3, columns}, {.padding = {0, 1, 2, 1}}}, Opt::kSize);
  check_depthwise("compact_stride", {{1, 9, 8, 8}, 1, {3, 3}, {.stride = {2, 2}, .padding = {1, 0, 1, 0}}}, Opt::kSize);
  check_depthwise("compact_batch", {{2, 4, 3, 64}, 1, {3, 3}, {.padding = {1, 1, 1, 1}, .min = 0}}, Opt::kSize);
}

TEST(DepthwiseConv2d, PatchesOfOneColumn) {
  for (int64_t kernel = 1; kernel <= 16; ++kernel) check_depthwise("column_window", {{1, 20, 1, 8}, 1, {kernel, 1}});
  for (int64_t outputs = 1; outputs <= 9; ++outputs)
    check_depthwise("column_outputs", {{1, outputs + 4, 1, 12}, 1, {5, 1}});
  for (const int64_t before : {0, 1, 7, 20})
    for (const int64_t after : {0, 3, 17})
      check_depthwise("column_padding", {{1, 11, 1, 4}, 1, {7, 1}, {.padding = {before, after, 0, 0}}});
  check_depthwise("column_batch", {{2, 9, 1, 40}, 1, {3, 1}});
  for (int64_t kernel = 1; kernel <= 15; kernel += 2)
    check_depthwise("column_turned", {{2, 1, 17, 8}, 1, {1, kernel}, {.padding = {0, 0, kernel / 2, 1}}});
  check_depthwise("column_relu6", {{1, 9, 1, 12}, 1, {3, 1}, {.min = 0, .max = 6}});
}

// Every map between the layers is a ring of a few rows, the columns' too.
TEST(DepthwiseConv2d, PatchesInRings) {
  for (const int64_t width : {6, 1}) {
    GraphBuilder b(79);
    TensorId x = b.input(b.int8_type({1, 23, width, 8}));
    for (const int64_t stride : {1, width == 1 ? 1 : 2, 1}) {
      const TensorId w = b.weights({8, 3, width == 1 ? 1 : 3, 1});
      const Conv2d conv{.stride = {stride, stride},
                        .padding = {1, 1, width == 1 ? 0 : 1, width == 1 ? 0 : 1},
                        .groups = 8,
                        .layout = "nhwc"};
      x = b.node(conv, {x, w, b.bias(x, w, 9)}, random_quant(b.random()));
    }
    b.output(x);
    check_in_rings(b.graph(), width == 1 ? "columns in rings" : "patches in rings");
    if (width > 1) check_in_rings(b.graph(), "compact patches in rings", Opt::kSize);
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

TEST(DepthwiseConv2d, PatchExtents) {
  DepthwiseConv2dParams params = small_params();
  Extents extents{};
  EXPECT_FALSE(depthwise_patch_s8_contract.extents(&params, &extents));
  params.channels = 4;
  params.multiplier = 1;
  params.geometry.in.row_bytes = params.geometry.out.row_bytes = 16;
  ASSERT_TRUE(depthwise_patch_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5), ElementsAre(64, 48, 65, 32, 128));
  EXPECT_FALSE(depthwise_column_s8_contract.extents(&params, &extents));
  params.geometry.in_width = params.geometry.out_width = 1;
  ASSERT_TRUE(depthwise_column_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5), ElementsAre(64, 48, 65, 32, 136));
  params.geometry.in.row_bytes = 18;
  EXPECT_FALSE(depthwise_column_s8_contract.extents(&params, &extents));
}

TEST(DepthwiseConv2d, CompactExtents) {
  DepthwiseConv2dParams params = small_params();
  params.channels = 4;
  params.multiplier = 1;
  params.geometry.in.row_bytes = params.geometry.out.row_bytes = 16;
  Extents extents{};
  EXPECT_FALSE(depthwise_compact_s8_contract.extents(&params, &extents));
  params.geometry.kernel_height = 3;
  params.geometry.pad_top = 1;
  ASSERT_TRUE(depthwise_compact_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5),
              ElementsAre(64, 48, 12u * params.geometry.kernel_width, 32, 128 + 68));
  params.geometry.kernel_width = 5;
  EXPECT_FALSE(depthwise_compact_s8_contract.extents(&params, &extents));
}

TEST(DepthwiseConv2d, WordsExtents) {
  DepthwiseConv2dParams params = small_params();
  Extents extents{};
  EXPECT_FALSE(depthwise_words_s8_contract.extents(&params, &extents));
  params.channels = 4;
  params.geometry.in.row_bytes = params.geometry.out.row_bytes = 16;
  ASSERT_TRUE(depthwise_words_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 4), ElementsAre(64, 48, 48, 64));
  params.geometry.in.row_bytes = 18;
  EXPECT_FALSE(depthwise_words_s8_contract.extents(&params, &extents));
  params.geometry.in.row_bytes = 16;
  params.codes.left_shift = 1;
  EXPECT_FALSE(depthwise_words_s8_contract.extents(&params, &extents));
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
