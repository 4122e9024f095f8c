// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ops/max_pool2d/max_pool2d.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void check_pool(const std::string& name, const Shape& shape, MaxPool2d pool) {
  pool.layout = "nhwc";
  for (const bool quantized : {true, false}) {
    const uint64_t seed = 0x3a8 + static_cast<uint64_t>(element_count(shape)) * 5 + quantized;
    GraphBuilder b(seed);
    const TensorType type = quantized ? b.int8_type(shape) : GraphBuilder::float_type(shape);
    b.output(b.node(pool, {b.input(type)}, type.quant));
    check_op(b.graph(), name + (quantized ? "_s8" : "_f32"), seed);
  }
}

TEST(MaxPool2d, EveryTailOfAVector) {
  for (int64_t channels = 1; channels <= 17; ++channels)
    check_pool("max_tail", {1, 3, 3, channels}, {.kernel = {2, 2}, .stride = {1, 1}});
  check_pool("max_31", {1, 4, 4, 31}, {.kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1, 1, 1}});
  check_pool("max_257", {1, 2, 3, 257}, {.kernel = {2, 2}, .stride = {1, 1}});
}

TEST(MaxPool2d, PaddingDilationCeilAndBatch) {
  check_pool("max_pad", {1, 7, 6, 5}, {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}});
  check_pool("max_dilation", {1, 9, 8, 6},
             {.kernel = {3, 2}, .stride = {1, 2}, .padding = {2, 2, 1, 1}, .dilation = {2, 3}});
  check_pool("max_ceil", {1, 5, 8, 3}, {.kernel = {2, 3}, .stride = {2, 3}, .ceil_mode = true});
  check_pool("max_batch", {3, 4, 5, 6}, {.kernel = {2, 3}, .stride = {2, 2}});
  check_pool("max_row_only", {1, 1, 33, 4}, {.kernel = {1, 3}, .stride = {1, 2}});
}

TEST(MaxPool2d, RandomGeometry) {
  Random random(32);
  for (int i = 0; i < 40; ++i) {
    const int64_t kernel_rows = random.integer(1, 4), kernel_columns = random.integer(1, 4);
    MaxPool2d pool{.kernel = {kernel_rows, kernel_columns},
                   .stride = {random.integer(1, 4), random.integer(1, 4)},
                   .padding = {random.integer(0, kernel_rows / 2), random.integer(0, kernel_rows / 2),
                               random.integer(0, kernel_columns / 2), random.integer(0, kernel_columns / 2)},
                   .dilation = {random.integer(1, 2), random.integer(1, 2)},
                   .ceil_mode = random.chance(0.5)};
    check_pool("max_random", {1, random.integer(7, 12), random.integer(7, 12), random.integer(1, 20)}, pool);
  }
}

TEST(MaxPool2d, ExtentsRefuseWhatWouldReachOutside) {
  const MaxPool2dParams good = {.map = {.in = {6, 3, 0},
                                        .out = {4, 2, 0},
                                        .rows = {3, 2, 2, 1, 0, 1},
                                        .columns = {3, 2, 2, 1, 0, 1},
                                        .channels = 2,
                                        .reserved = 0},
                                .least = -128};
  const auto change = [&](auto edit) {
    MaxPool2dParams params = good;
    edit(params);
    Extents extents{};
    return max_pool2d_s8_contract.extents(&params, &extents);
  };
  EXPECT_TRUE(change([](auto&) {}));
  EXPECT_FALSE(change([](auto& p) { p.map.channels = 3; }));
  EXPECT_FALSE(change([](auto& p) { p.map.columns.out = 3; }));
  EXPECT_FALSE(change([](auto& p) { p.map.rows.in = 4; }));
  EXPECT_FALSE(change([](auto& p) { p.map.rows.stride = 0xffff; }));
  EXPECT_FALSE(change([](auto& p) { p.map.rows.dilation = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.map.in.row_bytes = 5; }));
  EXPECT_FALSE(change([](auto& p) { p.map.in.reciprocal = 0x8000; }));
}

TEST(MaxPool2d, RefusesDifferentQuantizationsOfOneMap) {
  const NodeInput x{stepping_codes({1, 4, 4, 2}, 3, 0), per_tensor(0.1, 0)};
  EXPECT_THAT(refusal_of(MaxPool2d{.kernel = {2, 2}, .stride = {2, 2}, .layout = "nhwc"}, {x}, per_tensor(0.2, 0)),
              HasSubstr("maximum pooling of int8 [1,4,4,2] has no kernel"));
}

TEST(MaxPool2d, NanWinsAsInPyTorch) {
  const HostTensor x = make_tensor<float>(DType::kFloat32, {1, 1, 4, 1}, {1, NAN, 3, 2});
  const HostTensor y = evaluate_node(MaxPool2d{.kernel = {1, 2}, .stride = {1, 1}, .layout = "nhwc"}, {{x}});
  EXPECT_TRUE(std::isnan(floats_of(y)[0]) && std::isnan(floats_of(y)[1]));
  EXPECT_EQ(floats_of(y)[2], 3);
}

// From here on the expected values are PyTorch's: dequantize, max_pool2d, quantize.
const NodeInput kX{stepping_codes({1, 5, 6, 2}, 37, 11), per_tensor(0.05, -9)};

TEST(MaxPool2d, IsWhatPyTorchComputes) {
  const MaxPool2d pool{.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .layout = "nhwc"};
  EXPECT_THAT(codes_of(evaluate_node(pool, {kX}, kX.quant)),
              ElementsAre(71, 108, 105, 74, 111, 74, 77, 114, 83, 120, 117, 86, 123, 46, 89, 126, 89, 126));
  const MaxPool2d ceil{.kernel = {2, 2}, .stride = {2, 4}, .ceil_mode = true, .layout = "nhwc"};
  EXPECT_THAT(codes_of(evaluate_node(ceil, {kX}, kX.quant)),
              ElementsAre(71, 108, 111, 34, 77, 114, 117, 86, 123, -22, -19, 18));
  const MaxPool2d dilated{
      .kernel = {2, 2}, .stride = {1, 1}, .padding = {1, 1, 1, 1}, .dilation = {3, 3}, .layout = "nhwc"};
  EXPECT_THAT(codes_of(evaluate_node(dilated, {kX}, kX.quant)),
              ElementsAre(-105, -68, 3, 40, 77, 114, 117, -68, -31, 6, 83, 120, 105, -28, 9, 46, 83, 120, 105, -62, 15,
                          52, 123, 126, 111, -22, 15, 52, 89, 126, -105, -68, 3, 40, 77, 114, 117, -68, -31, 6));
}

TEST(MaxPool2d, PaddingNeverWinsOverValuesBelowZero) {
  const HostTensor x = make_tensor<int8_t>(
      DType::kInt8, {1, 4, 4, 1},
      {-128, -125, -122, -119, -116, -113, -110, -107, -104, -101, -100, -100, -100, -100, -100, -100});
  const MaxPool2d pool{
      .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 1, 1}, .ceil_mode = true, .layout = "nhwc"};
  EXPECT_THAT(codes_of(evaluate_node(pool, {{x, per_tensor(0.05, 100)}}, per_tensor(0.05, 100))),
              ElementsAre(-113, -107, -107, -100, -100, -100, -100, -100, -100));
}

}  // namespace
}  // namespace rush
