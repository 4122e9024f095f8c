// SPDX-License-Identifier: Apache-2.0
//
// What is said of small graphs: each has one thing worth saying.
#include "compiler/report/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/clamp/clamp_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/linear/linear_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantize/quantize_op.h"
#include "ops/reshape/reshape_op.h"
#include "tests/support/graph_builder.h"

namespace rush {
namespace {

using testing::HasSubstr;

Explanation explanation_of(const Graph& graph, Isa isa, const std::string& target, Opt opt = Opt::kBalanced) {
  Program program = lower_graph(graph, isa, target, opt);
  plan_memory(program);
  Explanation explanation = explain(program, emit_image(program));
  add_alternative(explanation, program, lower_graph(graph, isa, target, Opt::kSpeed));
  return explanation;
}

const ExplainedLayer& layer_with(const Explanation& explanation, const std::string& op) {
  for (const ExplainedLayer& layer : explanation.layers) {
    if (layer.row.op == op) return layer;
  }
  throw std::runtime_error("no layer of " + op);
}

Graph pointwise(int64_t in, int64_t out) {
  GraphBuilder b(1);
  const TensorId x = b.input(b.int8_type({1, 16, 16, in}));
  const TensorId weights = b.weights({out, 1, 1, in});
  Conv2d conv;
  conv.layout = "nhwc";
  b.output(b.node(conv, {x, weights, b.bias(x, weights, in)}, Quant{.scale = {64.0}, .zero_point = {0}}));
  return b.graph();
}

TEST(Explain, ChannelsThatDoNotFillTheVectors) {
  const Explanation odd = explanation_of(pointwise(33, 64), Isa::kMve, "cortex-m55");
  ASSERT_EQ(odd.layers.size(), 1u);
  EXPECT_NEAR(odd.layers[0].share, 1, 1e-9);
  ASSERT_FALSE(odd.layers[0].advice.empty());
  EXPECT_EQ(odd.layers[0].advice[0].what, "33 input channels do not fill the kernel's vectors");
  EXPECT_THAT(odd.layers[0].advice[0].fix, HasSubstr("48 do 1.45 times the work in"));
  EXPECT_EQ(odd.layers[0].row.source, "test.py:1");
  const Explanation full = explanation_of(pointwise(48, 64), Isa::kMve, "cortex-m55");
  EXPECT_TRUE(full.layers[0].advice.empty());
  EXPECT_EQ(full.warnings(), 0);
}

TEST(Explain, ATransposeThatAViewForces) {
  GraphBuilder b(1);
  const TensorId x = b.input(b.int8_type({1, 8, 8, 32}));
  const Quant quant = *b.graph().type(x).quant;
  const TensorId turned = b.node(Permute{{0, 3, 1, 2}}, {x}, quant);
  b.output(b.node(Clamp{.min = 0}, {b.node(Reshape{{1, 32, 64}}, {turned}, quant)}, quant));
  const Explanation explanation = explanation_of(b.graph(), Isa::kMve, "cortex-m55");
  const ExplainedLayer layer = layer_with(explanation, "permute");
  ASSERT_EQ(layer.advice.size(), 1u);
  EXPECT_TRUE(layer.advice[0].is_warning);
  EXPECT_EQ(layer.advice[0].what, "transposes 2048 bytes, because a view behind it reads them in PyTorch's order");
  EXPECT_EQ(explanation.warnings(), 1);
}

TEST(Explain, AnIslandThatIsNotQuantized) {
  GraphBuilder b(1);
  const TensorId x = b.input(b.int8_type({1, 64}));
  const TensorId real = b.node(Dequantize{}, {x});
  const TensorId weights = b.constant(GraphBuilder::float_type({64, 64}));
  const TensorId y =
      b.node(Clamp{.min = 0}, {b.node(Linear{}, {real, weights, b.constant(GraphBuilder::float_type({64}))})});
  const Quant quant = random_quant(b.random());
  b.output(b.node(Clamp{.min = -1}, {b.node(Quantize{}, {y}, quant)}, quant));
  const Explanation explanation = explanation_of(b.graph(), Isa::kDsp, "cortex-m4");
  const ExplainedLayer layer = layer_with(explanation, "linear");
  ASSERT_EQ(layer.advice.size(), 1u);
  EXPECT_TRUE(layer.advice[0].is_warning);
  EXPECT_THAT(layer.advice[0].what, HasSubstr("computes in float: linear"));
  EXPECT_THAT(layer.advice[0].what, HasSubstr(", clamp"));
  EXPECT_THAT(layer.advice[0].what, HasSubstr("% of the time, conversions included"));
  EXPECT_EQ(explanation.warnings(), 1);
}

TEST(Explain, AnotherOptIsFaster) {
  GraphBuilder b(1);
  const TensorId x = b.input(b.int8_type({1, 2, 2, 64}));
  const Conv2d conv{.padding = {1, 1, 1, 1}, .groups = 64, .layout = "nhwc"};
  b.output(b.node(conv, {x, b.weights({64, 3, 3, 1})}, random_quant(b.random())));
  const Explanation explanation = explanation_of(b.graph(), Isa::kMve, "cortex-m55", Opt::kSize);
  ASSERT_EQ(explanation.layers[0].advice.size(), 1u);
  EXPECT_EQ(explanation.layers[0].advice[0].what, "--opt speed runs it by depthwise_patch_s8");
  EXPECT_FALSE(explanation.layers[0].advice[0].is_warning);
}

}  // namespace
}  // namespace rush
