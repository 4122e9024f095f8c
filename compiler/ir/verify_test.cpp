// SPDX-License-Identifier: Apache-2.0
//
// Each rule of the verifier, broken once.
#include <functional>

#include <gtest/gtest.h>

#include "compiler/ir/graph.h"
#include "ops/clamp/clamp_op.h"

namespace rush {
namespace {

Graph sound_graph() {
  return parse(R"(input %x: float32[2,3]
state %s: float32[2,3] next %sum
const @c: float32[3] = [1, 2, 3]
%sum: float32[2,3] = add(%x, @c)
%q: int8[2,3] q(0.5,3) = quantize(%sum)
%relu: int8[2,3] q(0.5,3) = clamp(%q) {min=0}
output %relu
)");
}

std::string fault(const std::function<void(Graph&)>& damage) {
  Graph graph = sound_graph();
  damage(graph);
  try {
    verify(graph);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "none";
}

Tensor& tensor(Graph& graph, const std::string& name) {
  for (Tensor& t : graph.tensors)
    if (t.name == name) return t;
  throw InternalError("no tensor " + name);
}

TEST(Verify, TakesASoundGraph) { EXPECT_NO_THROW(verify(sound_graph())); }

TEST(Verify, NamesAndIds) {
  EXPECT_EQ(fault([](Graph& g) { g.tensors[0].name = "c"; }), "verify: tensor c: name is empty or taken");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[0].name = "relu"; }), "verify: node relu: name is empty or taken");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[0].inputs[0] = {99}; }), "verify: node sum: tensor id out of range");
  EXPECT_EQ(fault([](Graph& g) { g.outputs[0].tensor = {}; }), "verify: output relu: tensor id out of range");
}

TEST(Verify, OneDefinitionBeforeUse) {
  EXPECT_EQ(fault([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }),
            "verify: node q: tensor sum is used before it is defined");
  EXPECT_EQ(fault([](Graph& g) { g.nodes.erase(g.nodes.begin()); }),
            "verify: node q: tensor sum is used before it is defined");
  EXPECT_EQ(fault([](Graph& g) { g.nodes[1].outputs = g.nodes[0].outputs; }),
            "verify: node q: tensor sum is defined twice");
  EXPECT_EQ(fault([](Graph& g) { g.inputs.clear(); }), "verify: node sum: tensor x is used before it is defined");
}

TEST(Verify, TypesAreWhatTheOperatorInfers) {
  EXPECT_EQ(fault([](Graph& g) { tensor(g, "sum").type.shape = {3, 2}; }),
            "verify: node sum: output 0 is float32 [3,2], its operator gives float32 [2,3]");
  EXPECT_EQ(fault([](Graph& g) { tensor(g, "relu").type.quant->zero_point[0] = 4; }),
            "verify: node relu: output 0 is quantized otherwise than its operator does");
  EXPECT_NE(fault([](Graph& g) { tensor(g, "x").type.shape = {2, 4}; }).find("verify: node sum: error: add"),
            std::string::npos);
}

TEST(Verify, ConstantsAndQuantization) {
  EXPECT_EQ(fault([](Graph& g) { tensor(g, "c").type.shape = {1, 3}; }),
            "verify: tensor c: the constant's data is float32 [3]");
  EXPECT_EQ(fault([](Graph& g) { tensor(g, "q").type.quant->scale.push_back(1); }),
            "verify: tensor q: wrong number of scales");
  EXPECT_EQ(fault([](Graph& g) { tensor(g, "q").type.quant->scale[0] = 0; }),
            "verify: tensor q: scale is not positive");
  EXPECT_EQ(fault([](Graph& g) { tensor(g, "q").type.quant->axis = 2; }),
            "verify: tensor q: quantization axis out of range");
  EXPECT_EQ(fault([](Graph& g) { tensor(g, "q").type.quant->min = 127; }), "verify: tensor q: empty range of codes");
}

TEST(Verify, PortsAndStates) {
  EXPECT_EQ(fault([](Graph& g) { g.inputs[0].dim_order = {0, 0}; }),
            "verify: input x: dim_order is not a permutation of the axes");
  EXPECT_EQ(fault([](Graph& g) { g.inputs[0].exported_shape = {3, 2}; }),
            "verify: input x: shape in memory does not match the exported shape");
  EXPECT_EQ(fault([](Graph& g) { g.outputs[0].border = Quant{{0.25}, {0}}; }),
            "verify: output relu: border quantization differs");
  EXPECT_EQ(fault([](Graph& g) { g.states[0].next = g.outputs[0].tensor; }),
            "verify: state s: current and next differ in type");
  EXPECT_EQ(fault([](Graph& g) { g.states[0].initial = std::make_shared<HostTensor>(DType::kFloat32, Shape{2}); }),
            "verify: state s: initial value does not fit");
}

TEST(Graph, FindsProducersAndCountsUses) {
  const Graph graph = sound_graph();
  const TensorId sum = graph.nodes[0].out(), relu = graph.nodes[2].out();
  EXPECT_EQ(graph.producer(sum)->name, "sum");
  EXPECT_EQ(graph.producer(graph.inputs[0].tensor), nullptr);
  EXPECT_EQ(graph.uses(sum), 2);   // the quantize and the state
  EXPECT_EQ(graph.uses(relu), 1);  // the output
}

}  // namespace
}  // namespace rush
