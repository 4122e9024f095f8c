// SPDX-License-Identifier: Apache-2.0
//
//   x -> identity -> y    becomes    x -> y
//
// Identity stands for dropout in eval mode, clone, detach, alias. So do a reshape to the same shape, a permute that
// moves nothing and a pad by nothing. Bit-exact.
#include <algorithm>

#include "compiler/passes/passes.h"
#include "ops/identity/identity_op.h"
#include "ops/pad/pad_op.h"
#include "ops/permute/permute_op.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

bool changes_nothing(const Rewriter& rewriter, const Node& node) {
  if (node.is<Identity>()) return true;
  if (node.is<Reshape>()) return rewriter.shape(node.inputs[0]) == rewriter.shape(node.out());
  if (const auto* permute = node.as<Permute>()) return std::ranges::is_sorted(permute->axes);
  if (const auto* pad = node.as<Pad>()) return std::ranges::all_of(pad->amounts, [](int64_t a) { return a == 0; });
  return false;
}

std::optional<TensorId> skip_identity(Rewriter& rewriter, const Node& node) {
  if (!changes_nothing(rewriter, node)) return std::nullopt;
  return node.inputs[0];
}

}  // namespace

Graph remove_identities(Graph graph) { return rewrite(std::move(graph), {skip_identity}); }

}  // namespace rush
