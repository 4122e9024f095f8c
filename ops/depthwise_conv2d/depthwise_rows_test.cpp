// SPDX-License-Identifier: Apache-2.0
//
// What depthwise_rows_s8 does differently from depthwise_conv2d_s8, whose tests run it too.
#include "ops/depthwise_conv2d/depthwise_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/lower/lower.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/op_def.h"
#include "tests/support/contract_check.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;

struct RowsCase {
  Shape x;  ///< NHWC
  int64_t multiplier;
  int64_t stride;
  std::vector<int64_t> padding;
};

void check_rows(const std::string& name, const RowsCase& c) {
  GraphBuilder b(static_cast<uint64_t>(element_count(c.x)));
  const TensorType type = b.int8_type(c.x);
  const TensorId x = b.input(type), w = b.weights({c.x[3] * c.multiplier, 3, 3, 1});
  Quant out = random_quant(b.random());
  out.scale[0] = type.quant->scale[0] * 2;
  const Conv2d conv{.stride = {c.stride, c.stride}, .padding = c.padding, .groups = c.x[3], .layout = "nhwc"};
  b.output(b.node(conv, {x, w, b.bias(x, w, 9)}, out));
  const Graph graph = b.graph();
  EXPECT_EQ(lower_graph(graph, Isa::kDsp, "cortex-m4").steps.at(0).family->name, "depthwise_rows_s8") << name;
  check_op(graph, name, 3);
}

TEST(DepthwiseRows, ChunksOfRowsAndPairsOfColumns) {
  for (const int64_t stride : {1, 2}) {
    for (int64_t size = 1; size <= 10; ++size)
      check_rows("rows_chunk", {{1, 2 * size + 6, size, 5}, 1, stride, {1, 1, 1, 1}});
    check_rows("rows_24", {{1, 9, 24, 24}, 1, stride, {0, 1, 0, 1}});
    check_rows("rows_40", {{1, 35, 4, 40}, 1, stride, {2, 2, 2, 2}});
  }
}

TEST(DepthwiseRows, TailsOfChannelsAndMultipliers) {
  for (const int64_t stride : {1, 2}) {
    for (int64_t channels = 4; channels <= 13; ++channels) {
      check_rows("rows_tail", {{1, 5, 6, channels}, 1, stride, {1, 1, 1, 1}});
      check_rows("rows_multiplier", {{1, 4, 5, channels}, channels % 3 + 2, stride, {1, 0, 0, 1}});
    }
  }
}

TEST(DepthwiseRows, FarBeyondTheMap) {
  check_rows("rows_padding", {{1, 1, 1, 4}, 1, 1, {3, 4, 5, 2}});
  check_rows("rows_padding", {{1, 2, 1, 6}, 1, 2, {6, 6, 6, 6}});
}

DepthwiseRowsParams small_params() {
  return {{.geometry = {.in = {25, 4, 0},
                        .out = {30, 2, 0},
                        .in_height = 4,
                        .in_width = 5,
                        .out_height = 2,
                        .out_width = 3,
                        .kernel_height = 3,
                        .kernel_width = 3,
                        .stride_height = 1,
                        .stride_width = 1,
                        .dilation_height = 1,
                        .dilation_width = 1,
                        .pad_top = 0,
                        .pad_left = 0},
           .channels = 5,
           .multiplier = 2,
           .zero_point = 0,
           .reserved = {},
           .codes = {0, -128, 127, 0}}};
}

TEST(DepthwiseRows, ExtentsAreWhatTheKernelTouches) {
  const DepthwiseRowsParams params = small_params();
  Extents extents{};
  ASSERT_TRUE(depthwise_rows_s8_contract.extents(&params, &extents));
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5), ElementsAre(100, 60, 120, 128, 864));
  EXPECT_EQ(extents.rows, 2u);
}

TEST(DepthwiseRows, ExtentsRefuseOtherKernels) {
  const auto change = [](auto edit) {
    DepthwiseRowsParams params = small_params();
    edit(params.depthwise.geometry);
    Extents extents{};
    return depthwise_rows_s8_contract.extents(&params, &extents);
  };
  EXPECT_TRUE(change([](auto& g) { g.stride_height = g.stride_width = 2; }));
  EXPECT_FALSE(change([](auto& g) { g.stride_height = g.stride_width = 3; }));
  EXPECT_FALSE(change([](auto& g) { g.stride_height = g.stride_width = 0; }));
  EXPECT_FALSE(change([](auto& g) { g.stride_height = 2; }));
  EXPECT_FALSE(change([](auto& g) { g.kernel_height = 2; }));
  EXPECT_FALSE(change([](auto& g) { g.kernel_width = 4; }));
  EXPECT_FALSE(change([](auto& g) { g.dilation_height = 2; }));
  EXPECT_FALSE(change([](auto& g) { g.dilation_width = 0; }));
}

TEST(DepthwiseRows, WhateverExtentsAcceptStaysInside) {
  check_contract<DepthwiseRowsParams>(depthwise_rows_s8_contract, depthwise_rows_s8_scalar, small_params(), 52);
}

}  // namespace
}  // namespace rush
