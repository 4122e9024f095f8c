// SPDX-License-Identifier: Apache-2.0
//
//   constant -> permute | cast | quantize | ...    becomes    constant
//
// By the operators' own references, so bit-exact. fold_constants() leaves dequantize(constant) alone, since an
// integer operator will want the codes; fold_float_weights() folds what is still there after that.
#include <algorithm>

#include "compiler/passes/passes.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/op_def.h"

namespace rush {
namespace {

bool reads_only_constants(const Rewriter& rewriter, const Node& node) {
  return !node.inputs.empty() &&
         std::ranges::all_of(node.inputs, [&](TensorId id) { return !id.valid() || rewriter.is_constant(id); });
}

std::optional<TensorId> evaluate_now(Rewriter& rewriter, const Node& node) {
  if (!reads_only_constants(rewriter, node)) return std::nullopt;
  const Graph& graph = rewriter.graph();
  Tensors inputs;
  for (TensorId id : node.inputs) inputs.push_back(id.valid() ? graph[id].data.get() : nullptr);
  std::vector<HostTensor> values = find_op(node.op.name())->evaluate({graph, node}, inputs);
  return rewriter.add_constant(rewriter.name(node.out()), std::move(values.at(0)), rewriter.type(node.out()).quant);
}

std::optional<TensorId> fold_constant(Rewriter& rewriter, const Node& node) {
  if (node.is<Dequantize>()) return std::nullopt;
  return evaluate_now(rewriter, node);
}

}  // namespace

Graph fold_constants(Graph graph) { return rewrite(std::move(graph), {fold_constant}); }

Graph fold_float_weights(Graph graph) { return rewrite(std::move(graph), {evaluate_now}); }

}  // namespace rush
