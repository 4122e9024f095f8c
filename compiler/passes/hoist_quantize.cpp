// SPDX-License-Identifier: Apache-2.0
//
//   x -> reshape | permute | pad | max_pool2d | clamp -> quantize    becomes    x -> quantize -> the same on codes
//   a, b -> concat -> quantize                                       becomes    a, b -> quantize -> concat
//
// Quantizers that leave such operators in float between their neighbours' quantize and dequantize lose nothing by
// it. Bit-exact: quantize is monotone and takes one element at a time.
#include <algorithm>

#include "compiler/passes/movement.h"
#include "compiler/passes/passes.h"
#include "ops/concat/concat_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/quantization.h"
#include "ops/quantize/quantize_op.h"

namespace rush {
namespace {

/// fold_quantization() makes one operator of such a concat, which rescales each input as it copies it.
bool is_concat_of_codes(const Rewriter& rewriter, const Node& node) {
  return node.is<Concat>() && std::ranges::all_of(node.inputs, [&](TensorId id) {
           const Node* from = rewriter.producer<Dequantize>(id);
           return from && is_quantized_int8(rewriter.type(from->inputs[0]));
         });
}

std::optional<TensorId> hoist(Rewriter& rewriter, const Node& node) {
  const TensorType type = rewriter.type(node.out());
  if (!node.is<Quantize>() || !is_quantized_int8(type)) return std::nullopt;
  const Node* move = rewriter.producer(node.inputs[0]);
  if (!move || !is_movement(*move) || rewriter.uses(move->out()) != 1 || is_concat_of_codes(rewriter, *move))
    return std::nullopt;
  std::vector<TensorId> inputs;
  for (TensorId id : move->inputs)
    inputs.push_back(rewriter.insert(
        node, {rewriter.name(id) + ".codes", Quantize{}, {id}, {type.dtype, rewriter.shape(id), type.quant}}));
  return rewriter.replace(*move, {rewriter.name(node.out()), move->op, inputs, type});
}

}  // namespace

Graph hoist_quantize(Graph graph) { return rewrite(std::move(graph), {hoist}); }

}  // namespace rush
