// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/avg_pool2d/average_ref.h"
#include "ops/avg_pool2d/avg_pool2d.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// With one scale on both sides, with two, and in float.
void check_pool(const std::string& name, const Shape& shape, AvgPool2d pool) {
  pool.layout = "nhwc";
  for (const int kind : {0, 1, 2}) {
    const uint64_t seed = 0xa49 + static_cast<uint64_t>(element_count(shape)) * 7 + static_cast<uint64_t>(kind);
    GraphBuilder b(seed);
    const TensorType type = kind == 2 ? GraphBuilder::float_type(shape) : b.int8_type(shape);
    const std::optional<Quant> out = kind == 1 ? std::optional(random_quant(b.random())) : type.quant;
    b.output(b.node(pool, {b.input(type)}, out));
    check_op(b.graph(), name + (kind == 2 ? "_f32" : "_s8"), seed);
  }
}

TEST(AvgPool2d, EveryTailOfAVector) {
  for (int64_t channels = 1; channels <= 17; ++channels)
    check_pool("avg_tail", {1, 3, 3, channels}, {.kernel = {2, 2}, .stride = {1, 1}});
  check_pool("avg_31", {1, 4, 4, 31}, {.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1, 1, 1}});
  check_pool("avg_257", {1, 2, 3, 257}, {.kernel = {2, 2}, .stride = {1, 1}});
}

TEST(AvgPool2d, Padding) {
  for (const bool include : {true, false}) {
    check_pool("avg_pad", {1, 6, 7, 5},
               {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .count_include_pad = include});
    check_pool("avg_pad_uneven", {1, 6, 7, 5},
               {.kernel = {4, 3}, .stride = {1, 2}, .padding = {2, 0, 0, 2}, .count_include_pad = include});
    check_pool(
        "avg_pad_ceil", {1, 5, 8, 3},
        {.kernel = {3, 4}, .stride = {2, 3}, .padding = {1, 1, 2, 2}, .ceil_mode = true, .count_include_pad = include});
    check_pool("avg_window_covers_map", {1, 2, 3, 4},
               {.kernel = {5, 7}, .stride = {1, 1}, .padding = {2, 2, 3, 3}, .count_include_pad = include});
  }
}

TEST(AvgPool2d, Divisors) {
  check_pool("avg_divisor", {1, 5, 6, 3}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .divisor = 7});
  check_pool("avg_sum", {1, 5, 6, 3}, {.kernel = {2, 3}, .stride = {2, 1}, .divisor = 1});
  check_pool("avg_divisor_large", {1, 5, 6, 3}, {.kernel = {2, 3}, .stride = {2, 1}, .divisor = 1000});
}

TEST(AvgPool2d, LargeWindows) {
  check_pool("avg_global", {1, 25, 5, 9}, {.kernel = {25, 5}, .stride = {25, 5}});
  check_pool("avg_256_taps", {1, 1, 256, 5}, {.kernel = {1, 256}, .stride = {1, 1}});
  check_pool("avg_600_taps", {1, 2, 600, 9}, {.kernel = {2, 600}, .stride = {1, 1}});
}

TEST(AvgPool2d, Batches) { check_pool("avg_batch", {3, 4, 5, 6}, {.kernel = {2, 3}, .stride = {2, 2}}); }

TEST(AvgPool2d, RandomGeometry) {
  Random random(31);
  for (int i = 0; i < 40; ++i) {
    const int64_t kernel_rows = random.integer(1, 5), kernel_columns = random.integer(1, 5);
    AvgPool2d pool{.kernel = {kernel_rows, kernel_columns},
                   .stride = {random.integer(1, 4), random.integer(1, 4)},
                   .padding = {random.integer(0, kernel_rows / 2), random.integer(0, kernel_rows / 2),
                               random.integer(0, kernel_columns / 2), random.integer(0, kernel_columns / 2)},
                   .ceil_mode = random.chance(0.5),
                   .count_include_pad = random.chance(0.5)};
    check_pool("avg_random",
               {1, random.integer(kernel_rows, 9), random.integer(kernel_columns, 9), random.integer(1, 20)}, pool);
  }
}

/// The quotient that the device computes against division in double, at every tie and beside it.
TEST(AvgPool2d, MeansAreExactForEveryDivisor) {
  const Quant quant = per_tensor(0.1, 0);
  for (int64_t divisor = 1; divisor <= 32768; divisor += divisor < 300 ? 1 : 97) {
    const AverageScales scales(quant, quant, divisor, divisor);
    const auto scale = scales.scale(divisor);
    ASSERT_TRUE(scale);
    for (int64_t mean = -255; mean <= 255; mean += 51) {
      for (int64_t beside = -1; beside <= 1; ++beside) {
        const int64_t sum = mean * divisor + divisor / 2 + beside;
        if (std::abs(sum) > 255 * divisor) continue;
        const double expected = std::floor(static_cast<double>(sum) / static_cast<double>(divisor) + 0.5);
        ASSERT_EQ(mean_of(static_cast<int32_t>(sum), *scale) + scales.offset(), expected) << sum << " / " << divisor;
      }
    }
  }
}

/// Windows of `taps` elements that are all `code`: the extreme sums.
TEST(AvgPool2d, AMeanOfEqualCodesIsTheCode) {
  for (const int code : {-128, -127, 0, 126, 127}) {
    for (const int64_t zero_point : {-128, 0, 127}) {
      HostTensor x(DType::kInt8, {1, 1, 181, 181});
      std::fill_n(x.as<int8_t>(), x.size(), static_cast<int8_t>(code));
      const AvgPool2d pool{.kernel = {181, 181}, .stride = {1, 1}};
      EXPECT_THAT(codes_of(evaluate_node(pool, {{x, per_tensor(0.3, zero_point)}}, per_tensor(0.3, zero_point))),
                  ElementsAre(code));
    }
  }
}

TEST(AvgPool2d, ReadsOnlyTheRowsThatItDeclares) {
  GraphBuilder b(3);
  const TensorId x = b.input(b.int8_type({1, 9, 4, 2}));
  b.output(b.node(AvgPool2d{.kernel = {3, 2}, .stride = {2, 2}, .padding = {1, 1, 0, 0}, .layout = "nhwc"}, {x},
                  b.graph().type(x).quant));
  const Program program = lower_graph(b.graph(), Isa::kScalar, "cortex-m0");
  ASSERT_EQ(program.steps[0].row_dependencies.size(), 1u);
  // Output row 0 ends at input row 1, output row y at 2 * y + 1; a window spans 3 rows.
  EXPECT_EQ(program.steps[0].row_dependencies[0].stride, 2);
  EXPECT_EQ(program.steps[0].row_dependencies[0].lead, 0);
  EXPECT_EQ(program.steps[0].row_dependencies[0].span, 3);
}

TEST(AvgPool2d, ExtentsRefuseWhatWouldReachOutside) {
  const AvgPool2dParams good = {.map = {.in = {6, 3, 0},
                                        .out = {4, 2, 0},
                                        .rows = {3, 2, 2, 1, 0, 1},
                                        .columns = {3, 2, 2, 1, 0, 1},
                                        .channels = 2,
                                        .reserved = 0},
                                .counts = {{0, 3, 2, 0}, {0, 3, 2, 0}},
                                .zero_point = 0,
                                .offset = 0,
                                .range = {-128, 127}};
  const auto holds = [](const AvgPool2dParams& params) {
    Extents extents{};
    return avg_pool2d_s8_contract.extents(&params, &extents);
  };
  EXPECT_TRUE(holds(good));
  const auto change = [&](auto edit) {
    AvgPool2dParams params = good;
    edit(params);
    return holds(params);
  };
  EXPECT_FALSE(change([](auto& p) { p.map.channels = 3; }));
  EXPECT_FALSE(change([](auto& p) { p.map.columns.in = 4; }));
  EXPECT_FALSE(change([](auto& p) { p.map.rows.out = 5; }));
  EXPECT_FALSE(change([](auto& p) { p.map.rows.stride = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.map.columns.kernel = 0x8000; }));
  EXPECT_FALSE(change([](auto& p) { p.counts.rows.least = 3; }));
  EXPECT_FALSE(change([](auto& p) { p.counts.columns.least = 0xffff; }));
  EXPECT_FALSE(change([](auto& p) { p.counts.columns.end = 2; }));
  EXPECT_FALSE(change([](auto& p) { p.counts.rows.begin = INT16_MAX; }));
  EXPECT_FALSE(change([](auto& p) { p.counts.rows.end = 0; }));
}

TEST(AvgPool2d, RefusesMapsInPyTorchsLayout) {
  const NodeInput x{stepping_codes({1, 2, 4, 4}, 3, 0), per_tensor(0.1, 0)};
  EXPECT_THAT(refusal_of(AvgPool2d{.kernel = {2, 2}, .stride = {2, 2}}, {x}, per_tensor(0.1, 0)),
              HasSubstr("average pooling in layout nchw has no kernel"));
}

// From here on the expected values are PyTorch's: dequantize, avg_pool2d, quantize.
const NodeInput kX{stepping_codes({1, 5, 6, 2}, 37, 11), per_tensor(0.05, -9)};

AvgPool2d pool_3x3(int64_t stride) {
  return {.kernel = {3, 3}, .stride = {stride, stride}, .padding = {1, 1, 1, 1}, .layout = "nhwc"};
}

TEST(AvgPool2d, IsWhatPyTorchComputes) {
  AvgPool2d pool = pool_3x3(2);
  EXPECT_THAT(codes_of(evaluate_node(pool, {kX}, kX.quant)),
              ElementsAre(-27, -11, -5, -9, 8, -24, -5, 20, -20, 17, 15, -5, -4, -16, 1, 26, -14, 11));
  EXPECT_THAT(codes_of(evaluate_node(pool, {kX}, per_tensor(0.021, 14))),
              ElementsAre(-29, 10, 24, 15, 55, -21, 24, 83, -11, 77, 70, 23, 26, -3, 38, 97, 2, 61));
  pool.divisor = 5;
  EXPECT_THAT(codes_of(evaluate_node(pool, {kX}, kX.quant)),
              ElementsAre(-42, -12, -2, -9, 22, -36, -1, 43, -28, 38, 33, -2, 0, -22, 9, 54, -18, 27));
}

TEST(AvgPool2d, LeavesPaddingOutAsPyTorchDoes) {
  AvgPool2d pool = pool_3x3(2);
  pool.count_include_pad = false;
  EXPECT_THAT(codes_of(evaluate_node(pool, {kX}, kX.quant)),
              ElementsAre(-50, -13, -3, -9, 17, -31, -3, 34, -20, 17, 15, -5, 2, -25, 6, 43, -16, 21));
}

TEST(AvgPool2d, RoundsSizesUpAsPyTorchDoes) {
  const AvgPool2d ragged{.kernel = {2, 3}, .stride = {2, 4}, .ceil_mode = true, .layout = "nhwc"};
  EXPECT_THAT(codes_of(evaluate_node(ragged, {kX}, kX.quant)),
              ElementsAre(-34, 3, -10, -37, 0, 37, 46, 19, 26, -22, -56, -19));
  // A third row of windows would begin in the padding below the map, so there is none.
  AvgPool2d padded = pool_3x3(3);
  padded.stride = {3, 4};
  padded.ceil_mode = true;
  EXPECT_THAT(codes_of(evaluate_node(padded, {kX}, kX.quant)), ElementsAre(-27, -11, 8, -24, 7, 3, 3, 12));
}

}  // namespace
}  // namespace rush
