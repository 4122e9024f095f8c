// SPDX-License-Identifier: Apache-2.0
#include "ops/cost.h"

#include <gtest/gtest.h>

#include "compiler/lower/lower.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/conv2d_pairs.h"
#include "ops/depthwise_conv2d/depthwise_conv2d.h"
#include "ops/op_def.h"
#include "tests/support/sample_graphs.h"

namespace rush {
namespace {

TEST(Cost, EveryStepTakesTime) {
  for (const SampleGraph& sample : sample_graphs()) {
    for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
      const Program program = lower_graph(sample.graph, isa, "test");
      for (const ProgramStep& step : program.steps)
        EXPECT_GE(kernel_cycles({isa, "test"}, step.family->name, step.params.data()), 1) << step.family->name;
    }
  }
}

/// 3x3, 4 to 6 channels, on 5x7 with a border of 1: 15 windows lie inside the map.
Conv2dParams small_convolution() {
  Conv2dParams p{};
  p.geometry = {.in = whole_map(28, 5),
                .out = whole_map(42, 5),
                .in_height = 5,
                .in_width = 7,
                .out_height = 5,
                .out_width = 7,
                .kernel_height = 3,
                .kernel_width = 3,
                .stride_height = 1,
                .stride_width = 1,
                .dilation_height = 1,
                .dilation_width = 1,
                .pad_top = 1,
                .pad_left = 1};
  p.in_pixel = p.in_channels = 4;
  p.out_pixel = p.out_channels = 6;
  return p;
}

TEST(Cost, CountsAConvolution) {
  const Conv2dParams p = small_convolution();
  const KernelWork expected = {1, 5, 35, 70, 210, 630, 20 * 36, 0};
  EXPECT_EQ(kernel_work(Isa::kDsp, "conv2d_s8", &p), expected);
}

/// Four positions and four outputs at a time.
Conv2dPairsParams small_pairs() { return {small_convolution(), 4, 0, 1, 0}; }

TEST(Cost, CountsPairs) {
  const Conv2dPairsParams p = small_pairs();
  // 5 rows of 2 tiles; 35 windows of 3 segments; 3 * 12 / 2 pairs a window; 2 blocks a tile.
  const KernelWork expected = {1, 10, 35 * 3, 35 * 18, 80, 20 * 18, 0, 0};
  EXPECT_EQ(kernel_work(Isa::kDsp, "conv2d_pairs_s8", &p), expected);
}

/// 9x1 on a column of 15 rows that has no border, 8 channels.
DepthwiseConv2dParams small_column() {
  DepthwiseConv2dParams p{};
  p.geometry = {.in = whole_map(8, 15),
                .out = whole_map(8, 7),
                .in_height = 15,
                .in_width = 1,
                .out_height = 7,
                .out_width = 1,
                .kernel_height = 9,
                .kernel_width = 1,
                .stride_height = 1,
                .stride_width = 1,
                .dilation_height = 1,
                .dilation_width = 1};
  p.channels = 8;
  p.multiplier = 1;
  return p;
}

TEST(Cost, CountsTheColumnsOfADepthwiseConvolution) {
  const DepthwiseConv2dParams p = small_column();
  // Two patches of outputs 0, 1 and 4, 5 in one phase, one of 2, 3 in another, and 6 alone: four columns at most.
  const KernelWork expected = {1, 3, 6, 2 * 3, 2 * 3, 2 * 1, 0, 0};
  EXPECT_EQ(kernel_work(Isa::kMve, "depthwise_column_s8", &p), expected);
}

TEST(Cost, CoresOfAClassHaveTheirOwnConstants) {
  const Conv2dPairsParams p = small_pairs();
  const auto cycles = [&](std::string_view target) {
    return kernel_cycles({Isa::kDsp, target}, "conv2d_pairs_s8", &p);
  };
  EXPECT_LT(cycles("cortex-m7"), cycles("cortex-m4"));
  EXPECT_EQ(cycles("cortex-m35p"), cycles("cortex-m33"));
}

}  // namespace
}  // namespace rush
