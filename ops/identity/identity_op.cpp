// SPDX-License-Identifier: Apache-2.0
//
// Identity on the host, and the copying steps that other operators share.
#include "ops/identity/identity_op.h"

#include <algorithm>
#include <cstddef>

#include "ops/identity/copy.h"
#include "ops/identity/copy_step.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) { return {types.input(0)}; }

std::vector<HostTensor> evaluate(const NodeTypes&, const Tensors& inputs) { return {*inputs[0]}; }

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  view_or_copy(types, lowering);
  return std::nullopt;
}

bool is_port(const std::vector<Port>& ports, TensorId tensor) {
  return std::ranges::find(ports, tensor, &Port::tensor) != ports.end();
}

/// The tensor whose bytes views have led to so far.
BufferId root_of(const Program& program, BufferId id) {
  while (const auto parent = program[id].view_of) id = *parent;
  return id;
}

bool belongs_to_the_caller(const Graph& graph, Lowering& lowering, BufferId root) {
  if (lowering.program()[root].kind != BufferKind::kArena) return true;
  return std::ranges::any_of(graph.inputs, [&](const Port& port) { return lowering.buffer(port.tensor) == root; });
}

}  // namespace

ProgramStep copy_step(OperandRef from, OperandRef to, const StridedCopy& copy) {
  const CopyParams params = {.in = whole_map(copy.in_row_bytes, copy.rows),
                             .out = whole_map(copy.out_row_bytes, copy.rows),
                             .rows = copy.rows,
                             .reserved = 0,
                             .segments = copy.segments,
                             .segment_bytes = copy.segment_bytes,
                             .in_pitch = copy.in_pitch,
                             .out_pitch = copy.out_pitch};
  return {.family = find_kernel_family("copy"),
          .params = params_bytes(params),
          .operands = {from, to},
          .rows = copy.rows,
          .row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}},
          .rows_field = {offsetof(CopyParams, in), offsetof(CopyParams, out)}};
}

ProgramStep copy_step(OperandRef from, OperandRef to, uint32_t bytes) {
  return copy_step(from, to,
                   {.rows = 1,
                    .segments = 1,
                    .segment_bytes = bytes,
                    .in_pitch = bytes,
                    .out_pitch = bytes,
                    .in_row_bytes = bytes,
                    .out_row_bytes = bytes});
}

void view_or_copy(const NodeTypes& types, Lowering& lowering) {
  const TensorId in = types.node.inputs[0], out = types.node.out();
  const BufferId from = lowering.buffer(in);
  if (!is_port(types.graph.outputs, out) ||
      !belongs_to_the_caller(types.graph, lowering, root_of(lowering.program(), from)))
    return lowering.make_view(out, in);
  lowering.emit(copy_step({from}, {lowering.buffer(out)}, lowering.program()[from].bytes));
}

const OpDef identity_op = {Identity::kName, [] { return Op(Identity{}); }, infer, evaluate, lower, QuantRule::kMoved};

extern const KernelContract feed_contract;
Kernel feed_scalar;
const HostKernel feed_host = {
    .contract = &feed_contract, .run = feed_scalar, .packing = {}, .stack_bytes = 32, .rows_at_once = 1};

const HostKernel copy_host = {.contract = &copy_contract, .run = copy_scalar, .packing = {}, .stack_bytes = 128};

}  // namespace rush
