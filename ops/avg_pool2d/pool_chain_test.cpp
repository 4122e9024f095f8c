// SPDX-License-Identifier: Apache-2.0
//
// Rescale, both poolings, add and softmax band by band, every map between them a ring of a few rows.
#include <gtest/gtest.h>

#include "compiler/emit/emit.h"
#include "compiler/host/host_program.h"
#include "compiler/plan/plan.h"
#include "ops/add/add_op.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/rescale/rescale_op.h"
#include "ops/softmax/softmax_op.h"
#include "tests/support/device_suite.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

/// x -> rescale -> average -> (sum with the rescaled map) -> + channels -> maximum -> softmax
Graph chain_graph(bool quantized) {
  GraphBuilder b(91);
  const auto quant = [&] { return quantized ? std::optional(random_quant(b.random())) : std::nullopt; };
  const auto type = [&](const Shape& shape) {
    return quantized ? b.int8_type(shape) : GraphBuilder::float_type(shape);
  };
  const TensorId x = b.input(type({1, 23, 6, 5}));
  const TensorId first = quantized ? b.node(Rescale{}, {x}, quant()) : b.node(Add{}, {x, x});
  const AvgPool2d average{
      .kernel = {3, 3}, .stride = {1, 1}, .padding = {1, 1, 1, 1}, .count_include_pad = false, .layout = "nhwc"};
  const TensorId mean = b.node(average, {first}, quant());
  const TensorId sum = b.node(Add{}, {first, mean}, quant());
  const TensorId shifted = b.node(Add{.alpha = -1, .min = -1}, {sum, b.constant(type({5}))}, quant());
  const MaxPool2d greatest{
      .kernel = {3, 2}, .stride = {2, 1}, .padding = {2, 2, 0, 0}, .dilation = {2, 1}, .layout = "nhwc"};
  const TensorId max = b.node(greatest, {shifted}, b.graph().type(shifted).quant);
  b.output(b.node(Softmax{3}, {max}, quantized ? std::optional(per_tensor(1.0 / 256, -128)) : std::nullopt));
  return b.graph();
}

Program chained_program(const Graph& graph, Isa isa) {
  Program program = lower_graph(graph, isa, "test");
  make_chain(program, 0, static_cast<int>(program.steps.size()));
  plan_memory(program);
  return program;
}

void expect_same_in_rings(const Graph& graph, Isa isa) {
  const std::vector<uint8_t> image = emit_image(chained_program(graph, isa), {.full_kernel_table = true});
  HostProgram program(image);
  SuiteCase suite_case{.name = "pools in rings", .image = image, .runs = {}};
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Random random(seed);
    const HostTensor x = random_tensor(random, graph.type(graph.inputs[0].tensor));
    const HostTensor expected = run_graph(graph, {x}).at(0);
    EXPECT_EQ(first_difference(program.run(0, {x}).at(0), expected), "") << "seed " << seed;
    suite_case.runs.push_back({0, {x}, {expected}, seed % 2 == 1});
  }
  record_case(suite_case);
}

TEST(PoolChain, ComputesInRingsWhatItComputesWhole) {
  for (const bool quantized : {true, false}) {
    const Graph graph = chain_graph(quantized);
    for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) expect_same_in_rings(graph, isa);
  }
}

TEST(PoolChain, KeepsAFewRowsOfEveryMapBetween) {
  const Program program = chained_program(chain_graph(true), Isa::kScalar);
  for (size_t i = 0; i + 1 < program.steps.size(); ++i) {
    const Buffer& out = program[program.steps[i].operands.back().buffer];
    EXPECT_LE(out.bytes, 6u * 6 * 5) << out.name;
  }
}

}  // namespace
}  // namespace rush
