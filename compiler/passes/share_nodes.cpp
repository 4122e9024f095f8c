// SPDX-License-Identifier: Apache-2.0
//
//   x -> quantize -> a                x -> quantize -> a
//   x -> quantize -> b    becomes                   -> b
//
// Quantizers give every reader its own quantize and dequantize. Bit-exact.
#include "compiler/passes/passes.h"

namespace rush {
namespace {

std::optional<TensorId> reuse_earlier(Rewriter& rewriter, const Node& node) {
  for (const Node& earlier : rewriter.graph().nodes) {
    if (&earlier == &node) return std::nullopt;
    if (earlier.inputs == node.inputs && earlier.op == node.op && earlier.outputs.size() == 1 &&
        rewriter.type(earlier.out()) == rewriter.type(node.out()))
      return earlier.out();
  }
  return std::nullopt;
}

}  // namespace

Graph share_nodes(Graph graph) { return rewrite(std::move(graph), {reuse_earlier}); }

}  // namespace rush
