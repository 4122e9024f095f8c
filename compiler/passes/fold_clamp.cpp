// SPDX-License-Identifier: Apache-2.0
//
//   x -> conv2d | linear | add | rescale -> clamp    becomes    x -> the operator with a narrower output range
//   x -> conv2d -> max_pool2d -> clamp               becomes    the same, the clamp first past the pool
//   x -> clamp -> clamp                              becomes    x -> clamp
//
// relu and hardtanh are clamps. Bit-exact, on real values and on codes: a clamp is monotone, so it commutes with
// quantization, with moving data and with taking a maximum.
#include <algorithm>
#include <cmath>

#include "compiler/passes/passes.h"
#include "ops/clamp/clamp_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/op_def.h"
#include "ops/permute/permute_op.h"
#include "ops/quantization.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

/// clamp(clamp(x, a, b), c, d) = clamp(x, clamp(a, c, d), clamp(b, c, d)).
class NarrowRange final : public FieldVisitor {
 public:
  explicit NarrowRange(const Clamp& clamp) : clamp_(clamp) {}
  void operator()(std::string_view name, double& value) override {
    if (name == "min" || name == "max") value = std::clamp(value, clamp_.min, clamp_.max);
  }
  void operator()(std::string_view, int64_t&) override {}
  void operator()(std::string_view, bool&) override {}
  void operator()(std::string_view, std::string&) override {}
  void operator()(std::string_view, std::vector<int64_t>&) override {}

 private:
  const Clamp& clamp_;
};

/// The operator followed by the clamp, if it takes one.
std::optional<Op> narrowed(const Op& op, const Clamp& clamp) {
  if (!(clamp.min <= clamp.max) || !find_op(op.name())->takes_clamp) return std::nullopt;
  NarrowRange narrow(clamp);
  return op.visited(narrow);
}

bool commutes_with_clamp(const Node& node) { return node.is<Reshape>() || node.is<Permute>() || node.is<MaxPool2d>(); }

/// The node above `id` that only `id`'s reader reads.
const Node* sole_producer(const Rewriter& rewriter, TensorId id) {
  const Node* node = rewriter.producer(id);
  return node && rewriter.uses(id) == 1 ? node : nullptr;
}

std::optional<TensorId> narrow_range(Rewriter& rewriter, const Node& node) {
  const Node* from = node.is<Clamp>() ? sole_producer(rewriter, node.inputs[0]) : nullptr;
  const auto op = from ? narrowed(from->op, *node.as<Clamp>()) : std::nullopt;
  if (!op) return std::nullopt;
  return rewriter.replace(*from, {rewriter.name(node.out()), *op, from->inputs, rewriter.type(node.out())});
}

/// Lifts a clamp past what moves data, if there is an operator above that will take it.
std::optional<TensorId> lift_clamp(Rewriter& rewriter, const Node& node) {
  const Node* move = node.is<Clamp>() ? sole_producer(rewriter, node.inputs[0]) : nullptr;
  if (!move || !commutes_with_clamp(*move)) return std::nullopt;
  const Node* top = move;
  while (top && commutes_with_clamp(*top)) top = sole_producer(rewriter, top->inputs[0]);
  if (!top || !narrowed(top->op, *node.as<Clamp>())) return std::nullopt;
  const TensorId x = move->inputs[0];
  const TensorId clamped = rewriter.replace(node, {rewriter.name(x) + ".clamped", node.op, {x}, rewriter.type(x)});
  return rewriter.replace(*move, {rewriter.name(node.out()), move->op, {clamped}, rewriter.type(node.out())});
}

/// relu on codes whose zero point is the least code.
std::optional<TensorId> skip_open_clamp(Rewriter& rewriter, const Node& node) {
  const Clamp* clamp = node.as<Clamp>();
  const TensorType type = rewriter.type(node.out());
  if (!clamp || !is_quantized_int8(type) || rewriter.type(node.inputs[0]) != type) return std::nullopt;
  const Range range = code_range(*type.quant, clamp->min, clamp->max);
  if (range.min > type.quant->min || range.max < type.quant->max) return std::nullopt;
  return node.inputs[0];
}

}  // namespace

Graph fold_clamp(Graph graph) { return rewrite(std::move(graph), {skip_open_clamp, narrow_range, lift_clamp}); }

}  // namespace rush
