// SPDX-License-Identifier: Apache-2.0
//
//   codes -> dequantize -> reshape | permute | pad | ...    becomes    codes -> the same on codes -> dequantize
//
// Also for constants: a weight that is transposed in the graph stays int8. Bit-exact, under the condition that what
// the operator adds (pad's value, clamp's bounds) is a code.
#include <algorithm>

#include "compiler/passes/movement.h"
#include "compiler/passes/passes.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantization.h"

namespace rush {
namespace {

/// The codes behind each input, if all are dequantized and alike.
std::optional<std::vector<TensorId>> codes_of(const Rewriter& rewriter, const Node& node) {
  std::vector<TensorId> codes;
  for (TensorId id : node.inputs) {
    const Node* from = rewriter.producer<Dequantize>(id);
    if (!from) return std::nullopt;
    codes.push_back(from->inputs[0]);
    const TensorType type = rewriter.type(codes[0]), other = rewriter.type(codes.back());
    if (type.dtype != other.dtype || type.quant != other.quant) return std::nullopt;
  }
  return codes;
}

/// The type of the node's output when it moves codes of this type, or nothing where that is not the same.
std::optional<TensorType> moved_type(const Rewriter& rewriter, const Node& node, TensorType codes) {
  codes.shape = rewriter.shape(node.out());
  if (!codes.quant) return std::nullopt;
  if (codes.quant->per_tensor()) {
    if (!keeps_codes(node, codes)) return std::nullopt;
    return codes;
  }
  const Permute* permute = node.as<Permute>();
  if (!permute) return std::nullopt;
  codes.quant->axis = static_cast<int>(std::ranges::find(permute->axes, codes.quant->axis) - permute->axes.begin());
  return codes;
}

std::optional<TensorId> sink(Rewriter& rewriter, const Node& node) {
  if (!is_movement(node)) return std::nullopt;
  const auto codes = codes_of(rewriter, node);
  if (!codes) return std::nullopt;
  const auto type = moved_type(rewriter, node, rewriter.type(codes->at(0)));
  if (!type) return std::nullopt;
  const std::string name = rewriter.name(node.out());
  const TensorId moved = rewriter.replace(node, {name + ".codes", node.op, *codes, *type});
  const Node& from = *rewriter.producer(node.inputs[0]);
  return rewriter.insert(from, {name, Dequantize{}, {moved}, rewriter.type(node.out())});
}

}  // namespace

Graph sink_dequantize(Graph graph) { return rewrite(std::move(graph), {sink}); }

}  // namespace rush
