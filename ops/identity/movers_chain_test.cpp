// SPDX-License-Identifier: Apache-2.0
//
// Everything that moves or converts rows, band by band: each map between is a ring.
#include <gtest/gtest.h>

#include "compiler/emit/emit.h"
#include "compiler/execute/execute.h"
#include "compiler/host/host_program.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/op_def.h"
#include "ops/pad/pad_op.h"
#include "ops/quantize/quantize_op.h"
#include "tests/support/device_suite.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

/// x -> dequantize -> clamp -> pad -> quantize -> clamp -> pad, which cuts rows off -> side by side with that and
/// itself
Graph chain_graph() {
  GraphBuilder b(17);
  const TensorId x = b.input(b.int8_type({1, 21, 5, 6}));
  const TensorId real = b.node(Clamp{.min = -1.5, .max = 2}, {b.node(Dequantize{}, {x})});
  const TensorId wider = b.node(Pad{{0, 0, 2, 1, 1, 0, 0, 0}, 0.5}, {real});
  const Quant quant = random_quant(b.random());
  const TensorId codes = b.node(Clamp{.min = -1}, {b.node(Quantize{}, {wider}, quant)}, quant);
  const TensorId cut = b.node(Pad{{0, 0, -3, 3, 0, 0, 0, 0}, 1}, {codes}, quant);
  b.output(b.node(Concat{3}, {cut, codes}, random_quant(b.random())));
  return b.graph();
}

Program chained_program(const Graph& graph, Isa isa) {
  Program program = lower_graph(graph, isa, "test");
  make_chain(program, 0, static_cast<int>(program.steps.size()));
  plan_memory(program);
  return program;
}

TEST(MoversChain, ComputesInRingsWhatItComputesWhole) {
  const Graph graph = chain_graph();
  for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
    const std::vector<uint8_t> image = emit_image(chained_program(graph, isa), {.full_kernel_table = true});
    HostProgram program(image);
    SuiteCase suite_case{.name = "movers in rings", .image = image, .runs = {}};
    for (uint64_t seed = 0; seed < 4; ++seed) {
      Random random(seed);
      const HostTensor x = random_tensor(random, graph.type(graph.inputs[0].tensor));
      const HostTensor expected = run_graph(graph, {x}).at(0);
      EXPECT_EQ(first_difference(program.run(0, {x}).at(0), expected), "") << "seed " << seed;
      suite_case.runs.push_back({0, {x}, {expected}, seed % 2 == 1});
    }
    record_case(suite_case);
  }
}

// The codes wait for the copy that lags three rows behind; all other maps live for one row.
TEST(MoversChain, KeepsAFewRowsOfEveryMapBetween) {
  const Program program = chained_program(chain_graph(), Isa::kScalar);
  const BufferId last = program.entries[0].outputs[0].buffer;
  for (const ProgramStep& step : program.steps) {
    const BufferId out = step.operands.back().buffer;
    if (out == last) continue;
    EXPECT_LE(program[out].bytes, 4u * 6 * 6) << program[out].name;
  }
}

}  // namespace
}  // namespace rush
