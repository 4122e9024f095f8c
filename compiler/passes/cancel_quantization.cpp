// SPDX-License-Identifier: Apache-2.0
//
//   codes -> dequantize -> quantize    becomes    codes              where the parameters are equal (bit-exact)
//                                      becomes    codes -> rescale   where they differ (at most one code off)
#include "compiler/passes/passes.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/quantization.h"
#include "ops/quantize/quantize_op.h"
#include "ops/rescale/rescale_op.h"

namespace rush {
namespace {

std::optional<TensorId> cancel(Rewriter& rewriter, const Node& node) {
  const Node* from = node.is<Quantize>() ? rewriter.producer<Dequantize>(node.inputs[0]) : nullptr;
  if (!from) return std::nullopt;
  const TensorId codes = from->inputs[0];
  const TensorType type = rewriter.type(node.out());
  if (rewriter.type(codes) == type) return codes;
  if (!is_quantized_int8(rewriter.type(codes)) || !is_quantized_int8(type)) return std::nullopt;
  return rewriter.replace(node, {rewriter.name(node.out()), Rescale{}, {codes}, type});
}

}  // namespace

Graph cancel_quantization(Graph graph) { return rewrite(std::move(graph), {cancel}); }

}  // namespace rush
