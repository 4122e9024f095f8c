// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/quantize_op.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/quantize/quantize.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

Quant quant_of(double scale, int64_t zero_point, int64_t min = -128, int64_t max = 127) {
  return {.scale = {scale}, .zero_point = {zero_point}, .axis = -1, .min = min, .max = max};
}

/// Constants, so that every variant meets exactly these values on every core.
Graph quantize_constants(const std::vector<float>& values, const Quant& quant) {
  GraphBuilder b(1);
  const Shape shape = {static_cast<int64_t>(values.size())};
  b.output(b.node(Quantize{}, {b.constant(make_tensor<float>(DType::kFloat32, shape, values))}, quant));
  return b.graph();
}

/// torch.ops.quantized_decomposed.quantize_per_tensor(values, scale, zero_point, min, max, torch.int8)
void expect_codes(const std::vector<float>& values, const Quant& quant, const std::vector<int8_t>& codes) {
  const Graph graph = quantize_constants(values, quant);
  EXPECT_EQ(run_graph(graph, {})[0],
            make_tensor<int8_t>(DType::kInt8, graph.type(graph.outputs[0].tensor).shape, codes));
  check_op(graph, "quantize_literals", 1);
}

constexpr float kInf = std::numeric_limits<float>::infinity();
const std::vector<float> kEdges = {0.25f,  0.75f,   1.25f, -0.25f, -0.75f, -1.25f, 62.0f,  62.25f,
                                   -65.5f, -65.75f, 1e9f,  -1e9f,  kInf,   -kInf,  1e-40f, -0.0f};

TEST(Quantize, RoundsTiesToEvenAndClamps) {
  expect_codes(kEdges, quant_of(0.5, 3), {3, 5, 5, 3, 1, 1, 127, 127, -128, -128, 127, -128, 127, -128, 3, 3});
}

TEST(Quantize, ClampsToANarrowerRange) {
  expect_codes(kEdges, quant_of(0.5, -7, -100, 90),
               {-7, -5, -5, -7, -9, -9, 90, 90, -100, -100, 90, -100, 90, -100, -7, -7});
}

TEST(Quantize, MultipliesByTheInverseInFloat) {
  const double scale = 0.0235294122248888;
  std::vector<float> halves;
  for (int i = -6; i <= 6; ++i) halves.push_back((static_cast<float>(i) + 0.5f) * static_cast<float>(scale));
  expect_codes(halves, quant_of(scale, -4), {-10, -8, -8, -6, -6, -4, -4, -2, -2, 0, 0, 2, 3});
  expect_codes({0.05f, 0.15f, 0.25f, 0.35f, 0.45f, -0.05f, -0.15f, -0.25f, -0.35f, -0.45f, 0.55f, 0.65f, 1.05f, 1.15f},
               quant_of(0.1, 0), {0, 2, 2, 4, 4, 0, -2, -2, -4, -4, 6, 6, 10, 12});
}

TEST(Quantize, TurnsNanIntoTheZeroPoint) {
  const float nan = std::nanf("");
  expect_codes({nan, -nan, 1.0f}, quant_of(0.5, 9), {9, 9, 11});
  expect_codes({nan, 1.0f}, quant_of(0.5, 9, -5, 5), {5, 5});
}

TEST(Quantize, PerChannel) {
  GraphBuilder b(1);
  const Quant quant = {.scale = {0.5, 0.1}, .zero_point = {0, 2}, .axis = 0, .min = -128, .max = 127};
  const TensorId x = b.constant(make_tensor<float>(DType::kFloat32, {2, 2}, {1, -2, 0.5, 0.25}));
  b.output(b.node(Quantize{}, {x}, quant));
  EXPECT_EQ(run_graph(b.graph(), {})[0], make_tensor<int8_t>(DType::kInt8, {2, 2}, {2, -4, 7, 4}));
  EXPECT_THROW(lower_graph(b.graph(), Isa::kScalar, "test"), UserError);
}

TEST(Quantize, VectorsAndMapsOfEveryTail) {
  for (const Shape& shape : {Shape{1}, Shape{7}, Shape{2, 18}, Shape{1, 5, 3, 3}, Shape{1, 4, 4, 4}}) {
    const uint64_t seed = 0x4a00 + static_cast<uint64_t>(element_count(shape));
    GraphBuilder b(seed);
    b.output(b.node(Quantize{}, {b.input(GraphBuilder::float_type(shape))}, random_quant(b.random())));
    check_op(b.graph(), "quantize", seed);
  }
}

TEST(Quantize, LiesOverItsInput) {
  GraphBuilder b(1);
  b.output(b.node(Quantize{}, {b.input(GraphBuilder::float_type({1, 8, 8, 4}))}, random_quant(b.random())));
  Program program = lower_graph(b.graph(), Isa::kScalar, "test");
  plan_memory(program);
  EXPECT_EQ(program.regions[0].bytes, 4u * 256);
}

TEST(Quantize, ExtentsRefuseWhatWouldTouchOtherMemory) {
  const QuantizeParams good = {.in = {16, 3, 0},
                               .out = {4, 3, 0},
                               .rows = 3,
                               .zero_point = 0,
                               .row_elements = 4,
                               .inverse_scale = 1,
                               .min = -128,
                               .max = 127};
  Extents extents = {};
  ASSERT_TRUE(quantize_f32_s8_contract.extents(&good, &extents));
  EXPECT_EQ(extents.bytes[0], 48u);
  EXPECT_EQ(extents.bytes[1], 12u);
  QuantizeParams bad = good;
  bad.row_elements = 5;
  EXPECT_FALSE(quantize_f32_s8_contract.extents(&bad, &extents));
  bad = good;
  bad.in.row_bytes = 18;
  EXPECT_FALSE(quantize_f32_s8_contract.extents(&bad, &extents)) << "rows that are not aligned";
}

}  // namespace
}  // namespace rush
