// SPDX-License-Identifier: Apache-2.0
//
// What conv2d_pairs_s8 does differently from conv2d_s8, whose tests run it too.
#include "ops/conv2d/conv2d_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "ops/conv2d/conv2d_op.h"
#include "ops/op_def.h"
#include "tests/support/contract_check.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;

Quant symmetric(size_t channels) {
  Quant quant;
  quant.scale.assign(channels, 0.01);
  quant.zero_point.assign(channels, 0);
  quant.axis = 0;
  return quant;
}

/// A convolution without padding whose weight i is weight(i), with outputs of some ten steps.
template <class F>
Graph pairs_graph(const Shape& x, const Shape& weights, F weight, int stride = 1) {
  GraphBuilder b(5);
  const TensorId in = b.input({DType::kInt8, x, per_tensor(0.05, -128)});
  HostTensor data(DType::kInt8, weights);
  for (int64_t i = 0; i < data.size(); ++i) data.as<int8_t>()[i] = static_cast<int8_t>(weight(i));
  const double steps = 0.05 * 0.01 * 128 * static_cast<double>(data.size() / weights[0]);
  const TensorId w = b.constant(std::move(data), symmetric(static_cast<size_t>(weights[0])));
  b.output(b.node(Conv2d{.stride = {stride, stride}, .layout = "nhwc"}, {in, w}, per_tensor(steps, 3)));
  return b.graph();
}

Conv2dPairsParams params_of(const Graph& graph) {
  const Program program = lower_graph(graph, Isa::kDsp, "cortex-m4");
  EXPECT_EQ(program.steps.at(0).family->name, "conv2d_pairs_s8");
  Conv2dPairsParams params{};
  std::copy_n(program.steps[0].params.begin(), sizeof params, reinterpret_cast<uint8_t*>(&params));
  return params;
}

TEST(Conv2dPairs, AnyTwoWeightsAndAnyTwoPositionsShareAHalfword) {
  // Nine positions, of which the last is one of its own; then three, which are all of their own.
  for (const int64_t height : {4, 2}) {
    const auto check = [&](const std::string& name, auto weight) {
      const Graph graph = pairs_graph({1, height, 4, 7}, {6, 2, 2, 7}, weight);
      EXPECT_EQ(params_of(graph).positions, height == 4 ? 4 : 1);
      check_op(graph, fmt::format("pairs_{}_{}", name, height), 9);
    };
    check("least", [](int64_t) { return -128; });
    check("largest", [](int64_t) { return 127; });
    check("ends", [](int64_t i) { return i / 28 % 2 == 0 ? -128 : 127; });
    check("other_ends", [](int64_t i) { return i / 28 % 2 == 0 ? 127 : -128; });
    check("all", [](int64_t i) { return i * 3 % 256 - 128; });
  }
}

TEST(Conv2dPairs, HalfwordsAreSharedWhereSumsAreSmall) {
  // 247 * 255 * 127 is just below kPairsReach.
  for (const int64_t positions : {3, 4}) {
    for (const int64_t inputs : {247, 248}) {
      const auto graph_of = [&](auto weight) {
        return pairs_graph({1, 1, positions, inputs}, {6, 1, 1, inputs}, weight);
      };
      const Graph small = graph_of([](int64_t i) { return i % 2 == 0 ? 127 : 126; });
      const Graph full = graph_of([](int64_t) { return 127; });
      EXPECT_EQ(params_of(small).positions, positions == 4 ? 4 : 1);
      EXPECT_EQ(params_of(full).positions, positions == 4 && inputs == 247 ? 4 : 1);
      EXPECT_EQ(params_of(small).shared, positions == 4 ? 0 : 1);
      EXPECT_EQ(params_of(full).shared, positions == 3 && inputs == 247 ? 1 : 0);
      check_op(full, fmt::format("pairs_large_sums_{}_{}", positions, inputs), 10);
    }
  }
}

TEST(Conv2dPairs, SumsOfFourPositionsComeApartAtTheEndsOfTheirRange) {
  // Windows in the map sum up to nearly kPairsReach, of either sign, where inputs are least; windows outside to 0. Rows
  // of seven put both at every place of four.
  constexpr int64_t kInputs = 240, kOutputs = 6;
  GraphBuilder b(6);
  const TensorId in = b.input({DType::kInt8, {1, 2, 3, kInputs}, per_tensor(0.05, 127)});
  HostTensor data(DType::kInt8, {kOutputs, 1, 1, kInputs});
  for (int64_t i = 0; i < data.size(); ++i) data.as<int8_t>()[i] = i / kInputs % 2 == 0 ? 127 : -128;
  const TensorId w = b.constant(std::move(data), symmetric(kOutputs));
  b.output(b.node(Conv2d{.padding = {2, 2, 2, 2}, .layout = "nhwc"}, {in, w}, per_tensor(40, 3)));
  ASSERT_EQ(params_of(b.graph()).positions, 4);
  check_op(b.graph(), "pairs_ends_of_range", 12);
}

TEST(Conv2dPairs, OutputsOfAnOddNumberAreOfOnePosition) {
  for (const int64_t outputs : {1, 3, 5, 7}) {
    const Graph graph = pairs_graph({1, 4, 4, 7}, {outputs, 2, 2, 7}, [](int64_t i) { return i * 7 % 256 - 128; });
    EXPECT_EQ(params_of(graph).positions, 1);
    check_op(graph, fmt::format("pairs_odd_{}", outputs), 13);
  }
}

TEST(Conv2dPairs, PointsOfStridedRowsAreNotGathered) {
  const Graph graph = pairs_graph({1, 9, 9, 8}, {8, 1, 1, 8}, [](int64_t i) { return i * 7 % 256 - 128; }, 2);
  EXPECT_EQ(params_of(graph).positions, 4);
  check_op(graph, "pairs_strided_points", 14);
}

TEST(Conv2dPairs, WindowsThatFillTheScratchAreTakenOneByOne) {
  const Graph graph = pairs_graph({1, 3, 4, 461}, {3, 3, 3, 461}, [](int64_t i) { return i * 7 % 255 - 127; });
  EXPECT_EQ(params_of(graph).positions, 1);
  check_op(graph, "pairs_one_by_one", 11);
}

Conv2dPairsParams small_params() {
  Conv2dPairsParams params{};
  params.conv = {.geometry = {.in = {12, 4, 0},
                              .out = {15, 3, 0},
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
                 .in_pixel = 3,
                 .out_pixel = 5,
                 .in_channels = 3,
                 .out_channels = 4,
                 .zero_point = 0,
                 .gather = 0,
                 .codes = {0, -128, 127, 0},
                 .reserved = 0};
  params.positions = 4;
  params.shared = 0;
  params.whole_rows = 1;
  return params;
}

TEST(Conv2dPairs, ExtentsAreWhatTheKernelTouches) {
  Conv2dPairsParams params = small_params();
  Extents extents{};
  ASSERT_TRUE(conv2d_pairs_s8_contract.extents(&params, &extents));
  // Two rows of three pairs; a block; four windows of words, and of bytes.
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5), ElementsAre(48, 44, 48, 32, 72 + 48));
  EXPECT_EQ(extents.rows, 3u);
  params.conv.out_channels = 5;
  EXPECT_FALSE(conv2d_pairs_s8_contract.extents(&params, &extents));
  params.positions = 1;
  params.whole_rows = 0;
  ASSERT_TRUE(conv2d_pairs_s8_contract.extents(&params, &extents));
  // Four pixels of two pairs; two blocks; a window of words, and of bytes.
  EXPECT_THAT(std::vector(extents.bytes, extents.bytes + 5), ElementsAre(48, 45, 128, 64, 32 + 12));
}

TEST(Conv2dPairs, WhateverExtentsAcceptStaysInside) {
  check_contract<Conv2dPairsParams>(conv2d_pairs_s8_contract, conv2d_pairs_s8_scalar, small_params(), 51);
}

}  // namespace
}  // namespace rush
