// SPDX-License-Identifier: Apache-2.0
#include "ops/clamp/clamp_op.h"

#include <cmath>

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "ops/clamp/clamp.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

TEST(Clamp, CodesOfEveryTail) {
  for (const Shape& shape : {Shape{1}, Shape{3}, Shape{2, 17}, Shape{1, 5, 3, 3}, Shape{1, 3, 4, 16}}) {
    const uint64_t seed = 0xc1a0 + static_cast<uint64_t>(element_count(shape));
    GraphBuilder b(seed);
    const TensorType type = b.int8_type(shape);
    const double low = b.random().real(-2, 1), high = low + b.random().real(0, 3);
    const TensorId x = b.input(type);
    b.output(b.node(Clamp{.min = low, .max = high}, {x}, type.quant));
    b.output(b.node(Clamp{.min = low}, {x}, type.quant));
    b.output(b.node(Clamp{.max = high}, {x}, type.quant));
    check_op(b.graph(), "clamp_s8", seed);
  }
}

TEST(Clamp, Floats) {
  GraphBuilder b(0xc1af);
  b.output(b.node(Clamp{.min = 0, .max = 2.5}, {b.input(GraphBuilder::float_type({1, 4, 5, 3}))}));
  check_op(b.graph(), "clamp_f32", 0xc1af);
}

// torch.clamp([-3, -1, 0.5, 7, nan, -inf], -1, 6) is [-1, -1, 0.5, 6, nan, -1]
TEST(Clamp, IsWhatPyTorchComputes) {
  GraphBuilder b(1);
  const std::vector<float> values = {-3, -1, 0.5, 7, std::nanf(""), -INFINITY};
  b.output(b.node(Clamp{.min = -1, .max = 6}, {b.constant(make_tensor<float>(DType::kFloat32, {6}, values))}));
  const HostTensor out = run_graph(b.graph(), {})[0];
  const std::vector<float> expected = {-1, -1, 0.5, 6, 0, -1};
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i == 4) {
      EXPECT_TRUE(std::isnan(out.as<float>()[i]));
    } else {
      EXPECT_EQ(out.as<float>()[i], expected[i]);
    }
  }
  check_op(b.graph(), "clamp_literals", 1);
}

// relu6 between torch's quantize (0.1, -20) and dequantize: codes below the zero point become it, above 40 become 40.
TEST(Clamp, OfCodesIsTheClampOfWhatTheyMean) {
  GraphBuilder b(1);
  const Quant quant = {.scale = {0.1}, .zero_point = {-20}, .axis = -1, .min = -128, .max = 127};
  const TensorId x = b.constant(make_tensor<int8_t>(DType::kInt8, {6}, {-128, -21, -20, 39, 41, 127}), quant);
  b.output(b.node(Clamp{.min = 0, .max = 6}, {x}, quant));
  EXPECT_EQ(run_graph(b.graph(), {})[0], make_tensor<int8_t>(DType::kInt8, {6}, {-20, -20, -20, 39, 40, 40}));
}

TEST(Clamp, ExtentsRefuseRowsThatAreTooShort) {
  const ClampParams good = {
      .in = {8, 2, 0}, .out = {8, 2, 0}, .rows = 2, .reserved = 0, .row_elements = 8, .range = {0, 1}};
  Extents extents = {};
  ASSERT_TRUE(clamp_s8_contract.extents(&good, &extents));
  EXPECT_EQ(extents.bytes[0], 16u);
  EXPECT_EQ(extents.rows, 2u);
  ClampParams bad = good;
  bad.row_elements = 9;
  EXPECT_FALSE(clamp_s8_contract.extents(&bad, &extents));
  bad = good;
  bad.out.ring_rows = 1;
  EXPECT_FALSE(clamp_s8_contract.extents(&bad, &extents));
  bad.out.reciprocal = 0x8000;
  EXPECT_TRUE(clamp_s8_contract.extents(&bad, &extents)) << "a ring of one row";
}

}  // namespace
}  // namespace rush
