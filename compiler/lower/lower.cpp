// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <fmt/format.h>

#include "ops/identity/copy_step.h"
#include "ops/op_def.h"

namespace rush {
namespace {

Diagnostic no_kernel(const Graph& graph, const Node& node, const std::string& why, const std::string& target) {
  Diagnostic diagnostic{.what = fmt::format("{} for {}", why, target),
                        .op = std::string(node.op.name()),
                        .origin = node.origin,
                        .details = {},
                        .fix = {}};
  for (const TensorId id : node.inputs) {
    if (id.valid())
      diagnostic.details.push_back(
          fmt::format("{} {}", graph[id].is_constant() ? "constant" : "input", to_string(graph.type(id))));
  }
  for (const TensorId id : node.outputs) diagnostic.details.push_back("output " + to_string(graph.type(id)));
  diagnostic.fix = "quantize this layer to int8, or replace it by an operator that docs/operators.md lists";
  return diagnostic;
}

/// Why a node cannot be lowered, after the attempt.
std::optional<std::string> lower_node(const Graph& graph, const Node& node, Lowering& lowering) {
  const OpDef* op = find_op(node.op.name());
  if (!op || !op->lower) return fmt::format("{} has no kernel", node.op.name());
  lowering.begin_node(node);
  return op->lower({graph, node}, lowering);
}

ProgramPort program_port(const Graph& graph, const Port& port, Lowering& lowering) {
  return {.name = port.name,
          .buffer = lowering.buffer(port.tensor),
          .type = graph.type(port.tensor),
          .exported_dtype = port.exported_dtype,
          .exported_shape = port.exported_shape,
          .dim_order = port.dim_order,
          .border = port.border};
}

BufferId state_buffer(const State& state, Lowering& lowering) {
  const BufferId id = lowering.buffer(state.current);
  Buffer& buffer = lowering.program()[id];
  buffer.kind = BufferKind::kState;
  buffer.data.assign(state.initial->raw(), state.initial->raw() + state.initial->bytes());
  return id;
}

/// The end of a run: every state takes its next value.
void update_states(const Graph& graph, Lowering& lowering) {
  for (const State& state : graph.states) {
    if (state.next == state.current) continue;
    lowering.emit(copy_step({lowering.buffer(state.next)}, {lowering.buffer(state.current)},
                            lowering.program()[lowering.buffer(state.current)].bytes));
  }
}

/// The entry "init": every state takes its initial value.
Entry init_entry(const Graph& graph, Lowering& lowering) {
  Entry entry{.name = "init",
              .first_chain = static_cast<int>(lowering.program().chains.size()),
              .chain_count = 0,
              .inputs = {},
              .outputs = {}};
  for (const State& state : graph.states) {
    const BufferId to = lowering.buffer(state.current);
    const std::vector<uint8_t> initial = lowering.program()[to].data;
    const BufferId from = lowering.constant(state.name + ".initial", initial, 4);
    lowering.emit(copy_step({from}, {to}, static_cast<uint32_t>(initial.size())));
  }
  entry.chain_count = static_cast<int>(lowering.program().chains.size()) - entry.first_chain;
  return entry;
}

}  // namespace

Program lower_graph(const Graph& graph, Isa isa, const std::string& target, Opt opt) {
  Program program{.isa = isa, .target = target, .core = target, .opt = opt};
  Lowering lowering(graph, program);
  Entry main{.name = "main", .first_chain = 0, .chain_count = 0, .inputs = {}, .outputs = {}};
  for (const State& state : graph.states) state_buffer(state, lowering);
  for (const Port& port : graph.inputs) main.inputs.push_back(program_port(graph, port, lowering));

  std::vector<Diagnostic> errors;
  for (const Node& node : graph.nodes) {
    if (const auto why = lower_node(graph, node, lowering)) errors.push_back(no_kernel(graph, node, *why, target));
  }
  if (!errors.empty()) throw UserError(std::move(errors));

  const Node border{.name = "state", .op = {}, .inputs = {}, .outputs = {}, .origin = {.layer = "state", .source = {}}};
  lowering.begin_node(border);
  update_states(graph, lowering);
  for (const Port& port : graph.outputs) main.outputs.push_back(program_port(graph, port, lowering));
  main.chain_count = static_cast<int>(program.chains.size());
  program.entries.push_back(std::move(main));
  if (!graph.states.empty()) program.entries.push_back(init_entry(graph, lowering));
  return program;
}

}  // namespace rush
