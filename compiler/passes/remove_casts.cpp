// SPDX-License-Identifier: Apache-2.0
//
//   x: float32 -> cast to float32                       becomes    x
//   x: float32 -> cast to float64 -> cast to float32    becomes    x
//
// Bit-exact: the type in the middle holds every value of the first. Casts of constants are folded elsewhere.
#include "compiler/passes/passes.h"
#include "ops/cast/cast_op.h"

namespace rush {
namespace {

struct Precision {
  bool is_float;
  int significand;  ///< bits of an integer that are always kept
};

Precision precision(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return {true, 53};
    case DType::kFloat32:
      return {true, 24};
    case DType::kFloat16:
      return {true, 11};
    case DType::kBFloat16:
      return {true, 8};
    case DType::kInt64:
      return {false, 63};
    case DType::kInt32:
      return {false, 31};
    case DType::kInt16:
      return {false, 15};
    case DType::kUInt8:
      return {false, 8};
    case DType::kInt8:
      return {false, 7};
    case DType::kBool:
      return {false, 1};
  }
  throw InternalError("precision: unknown dtype");
}

/// Every value of `from` is also one of `to`.
bool holds(DType to, DType from) {
  const Precision wide = precision(to), narrow = precision(from);
  if (narrow.is_float) return to == from || to == DType::kFloat64 || (to == DType::kFloat32 && narrow.significand < 24);
  const bool negative = from != DType::kUInt8 && from != DType::kBool;
  if (to == DType::kUInt8 || to == DType::kBool) return !negative && wide.significand >= narrow.significand;
  return wide.significand >= narrow.significand;
}

std::optional<TensorId> skip_cast(Rewriter& rewriter, const Node& node) {
  if (!node.is<Cast>()) return std::nullopt;
  const TensorId x = node.inputs[0];
  const TensorType type = rewriter.type(node.out());
  if (rewriter.type(x) == type) return x;
  const Node* inner = rewriter.producer<Cast>(x);
  if (!inner || rewriter.type(inner->inputs[0]) != type || !holds(rewriter.type(x).dtype, type.dtype))
    return std::nullopt;
  return inner->inputs[0];
}

}  // namespace

Graph remove_casts(Graph graph) { return rewrite(std::move(graph), {skip_cast}); }

}  // namespace rush
