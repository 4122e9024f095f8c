// SPDX-License-Identifier: Apache-2.0
//
//   permute -> permute                                 becomes    one permute, or none
//   permute -> add | clamp | pad | ... -> permute      becomes    the operator alone, between what it was between
//   x [1,1,49,10] -> permute                           becomes    x -> reshape: only axes of length 1 move
//   x -> permute -> reshape to [N,K] -> linear         becomes    x -> reshape -> linear with its columns moved
//   linear -> reshape -> permute                       becomes    linear with its rows moved -> reshape
//   dequantize -> permute                              becomes    permute -> dequantize: codes are a quarter as long
//
// First every permute rises as far as it can, then sinks; on the way it meets its inverse, unless the user's own
// layout at the border, or an operator that mixes the axes, stands between. Bit-exact, but for a float linear, whose
// sum runs in another order.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "compiler/passes/passes.h"
#include "compiler/passes/permutation.h"
#include "ops/activation/activation_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/linear/linear_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantize/quantize_op.h"
#include "ops/rescale/rescale_op.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

const Axes& axes_of(const Node& permute) { return permute.as<Permute>()->axes; }

bool is_per_tensor(const TensorType& type) { return !type.quant || type.quant->per_tensor(); }

std::string permuted_name(const std::string& name, const Axes& p) {
  if (name.ends_with(".permuted")) return name;
  return name + (p == Axes{0, 2, 3, 1} ? ".nhwc" : ".permuted");
}

// ---- one permute after another

std::optional<TensorId> join_permutes(Rewriter& rewriter, const Node& node) {
  if (!node.is<Permute>()) return std::nullopt;
  if (is_identity(axes_of(node))) return node.inputs[0];
  const Node* inner = rewriter.producer<Permute>(node.inputs[0]);
  if (!inner) return std::nullopt;
  const Axes both = compose(axes_of(*inner), axes_of(node));
  if (is_identity(both)) return inner->inputs[0];
  return rewriter.replace(node,
                          {rewriter.name(node.out()), Permute{both}, {inner->inputs[0]}, rewriter.type(node.out())});
}

// ---- views

std::optional<TensorId> become_view(Rewriter& rewriter, const Node& node) {
  if (!node.is<Permute>() || !moves_only_ones(rewriter.shape(node.inputs[0]), axes_of(node))) return std::nullopt;
  const TensorType type = rewriter.type(node.out());
  if (!is_per_tensor(type)) return std::nullopt;
  return rewriter.replace(node, {rewriter.name(node.out()), Reshape{type.shape}, {node.inputs[0]}, type});
}

std::optional<TensorId> join_views(Rewriter& rewriter, const Node& node) {
  if (!node.is<Reshape>()) return std::nullopt;
  const TensorType type = rewriter.type(node.out());
  if (rewriter.type(node.inputs[0]) == type) return node.inputs[0];
  const Node* inner = rewriter.producer<Reshape>(node.inputs[0]);
  if (!inner) return std::nullopt;
  return rewriter.replace(node, {rewriter.name(node.out()), node.op, {inner->inputs[0]}, type});
}

bool ignores_shape(const Node& node) {
  return node.is<Activation>() || node.is<Clamp>() || node.is<Rescale>() || node.is<Quantize>() ||
         node.is<Dequantize>();
}

/// clamp(reshape(x)) becomes reshape(clamp(x)), so that the view meets a linear or another view.
std::optional<TensorId> sink_view(Rewriter& rewriter, const Node& node) {
  const Node* view = ignores_shape(node) ? rewriter.producer<Reshape>(node.inputs[0]) : nullptr;
  if (!view || rewriter.uses(view->out()) != 1) return std::nullopt;
  const TensorType type = rewriter.type(node.out());
  if (!is_per_tensor(type) || !is_per_tensor(rewriter.type(node.inputs[0]))) return std::nullopt;
  const TensorId x = view->inputs[0];
  const std::string name = rewriter.name(node.out());
  TensorType inner = type;
  inner.shape = rewriter.shape(x);
  const TensorId out = rewriter.replace(node, {name + ".view", node.op, {x}, inner});
  return rewriter.replace(*view, {name, Reshape{type.shape}, {out}, type});
}

// ---- past one operator

/// A constant operand of any rank that broadcasts to `rank` axes, permuted.
TensorId permuted_constant(Rewriter& rewriter, TensorId id, const Axes& p) {
  const Tensor tensor = rewriter.graph()[id];
  Shape shape = tensor.type.shape;
  shape.insert(shape.begin(), p.size() - shape.size(), 1);
  HostTensor data = permuted(tensor.data->reshaped(shape), std::vector<int>(p.begin(), p.end()));
  return rewriter.add_constant(tensor.name + ".permuted", std::move(data), tensor.type.quant);
}

/// permute(id, p): as it was before the inverse permute, as a constant, or as a new node.
TensorId permuted_operand(Rewriter& rewriter, const Node& near, TensorId id, const Axes& p) {
  if (rewriter.is_constant(id)) return permuted_constant(rewriter, id, p);
  const Node* from = rewriter.producer<Permute>(id);
  if (from && is_identity(compose(axes_of(*from), p))) return from->inputs[0];
  return rewriter.insert(near,
                         {permuted_name(rewriter.name(id), p), Permute{p}, {id}, permuted_type(rewriter.type(id), p)});
}

/// Permuting this operand costs nothing: it is a constant, or in order already, or the inverse was just applied, or
/// the graph has it permuted already.
bool is_free(const Rewriter& rewriter, TensorId id, const Axes& p) {
  const Shape shape = rewriter.shape(id);
  if (rewriter.is_constant(id)) return is_per_tensor(rewriter.type(id));
  if (shape.size() != p.size()) return false;
  if (moves_only_ones(shape, p)) return true;
  const Node* from = rewriter.producer<Permute>(id);
  if (from && moves_only_ones(rewriter.shape(from->inputs[0]), compose(axes_of(*from), p))) return true;
  return std::ranges::any_of(rewriter.users(id),
                             [&](const Node* user) { return user->is<Permute>() && axes_of(*user) == p; });
}

bool is_permutable(const Rewriter& rewriter, TensorId id, const Axes& p) {
  if (!id.valid()) return false;
  const TensorType type = rewriter.type(id);
  return is_per_tensor(type) &&
         (type.shape.size() == p.size() || (rewriter.is_constant(id) && type.shape.size() < p.size()));
}

/// permute(op(x, ...)) becomes op(permute(x), ...) if that makes no more permutes than there were.
std::optional<TensorId> hoist_permute(Rewriter& rewriter, const Node& node) {
  const Node* op = node.is<Permute>() ? rewriter.producer(node.inputs[0]) : nullptr;
  if (!op || rewriter.uses(op->out()) != 1) return std::nullopt;
  const auto passed = hoist_through(op->op, rewriter.shape(op->inputs[0]), axes_of(node));
  if (!passed) return std::nullopt;
  const Axes& p = passed->axes;
  const auto fits = [&](TensorId id) { return is_permutable(rewriter, id, p); };
  const auto costs = [&](TensorId id) { return !is_free(rewriter, id, p); };
  if (!std::ranges::all_of(op->inputs, fits) || std::ranges::count_if(op->inputs, costs) > 1) return std::nullopt;
  std::vector<TensorId> inputs;
  for (TensorId id : op->inputs) inputs.push_back(permuted_operand(rewriter, node, id, p));
  return rewriter.replace(*op, {rewriter.name(node.out()), passed->op, inputs, rewriter.type(node.out())});
}

/// A permute above the node; one that moves elements before one that does not.
const Node* first_permute(const Rewriter& rewriter, const Node& node) {
  const Node* first = nullptr;
  for (TensorId id : node.inputs) {
    const Node* permute = rewriter.producer<Permute>(id);
    if (permute && !moves_only_ones(rewriter.shape(permute->inputs[0]), axes_of(*permute))) return permute;
    if (permute && !first) first = permute;
  }
  return first;
}

/// The permute that one of the node's inputs comes from, if all inputs can do without it at no cost.
const Node* permute_above(const Rewriter& rewriter, const Node& node) {
  const Node* permute = first_permute(rewriter, node);
  if (!permute) return nullptr;
  const Axes back = inverse(axes_of(*permute));
  const auto can_do_without = [&](TensorId id) {
    return is_permutable(rewriter, id, back) && is_free(rewriter, id, back);
  };
  return std::ranges::all_of(node.inputs, can_do_without) ? permute : nullptr;
}

std::optional<Passed> sinks(const Rewriter& rewriter, const Node& node) {
  const Node* permute = permute_above(rewriter, node);
  if (!permute) return std::nullopt;
  return sink_through(node.op, rewriter.shape(permute->inputs[0]), axes_of(*permute));
}

/// Nothing would need the permute any more once it has sunk past each of its readers.
bool leaves_nothing(const Rewriter& rewriter, const Node& permute) {
  int uses = 0;
  for (const Node* user : rewriter.users(permute.out())) {
    if (!user->is<Permute>() && !sinks(rewriter, *user)) return false;
    uses += static_cast<int>(std::ranges::count(user->inputs, permute.out()));
  }
  return uses == rewriter.uses(permute.out());
}

/// op(permute(x), ...) becomes permute(op(x, ...)).
class PermuteSinker {
 public:
  std::optional<TensorId> operator()(Rewriter& rewriter, const Node& node) {
    const auto passed = node.is<Permute>() ? std::nullopt : sinks(rewriter, node);
    if (!passed) return std::nullopt;
    const Node* permute = permute_above(rewriter, node);
    if (!leaves_nothing(rewriter, *permute) || !may_turn(rewriter, node, axes_of(*permute))) return std::nullopt;
    const Axes back = inverse(axes_of(*permute));
    std::vector<TensorId> inputs;
    for (TensorId id : node.inputs) inputs.push_back(permuted_operand(rewriter, *permute, id, back));
    const TensorType type = rewriter.type(node.out());
    const Axes restored = inverse(passed->axes);
    const std::string name = rewriter.name(node.out());
    if (is_identity(restored)) return rewriter.replace(node, {name, passed->op, inputs, type});
    const TensorId out =
        rewriter.replace(node, {permuted_name(name, restored), passed->op, inputs, permuted_type(type, restored)});
    return rewriter.insert(*permute, {name, Permute{passed->axes}, {out}, type});
  }

 private:
  /// Where an input has to be permuted back, that permute could sink in its turn, and so for ever: once a node.
  bool may_turn(const Rewriter& rewriter, const Node& node, const Axes& p) {
    const auto permuted_alike = [&](TensorId id) {
      const Node* from = rewriter.producer<Permute>(id);
      return rewriter.is_constant(id) || (from && axes_of(*from) == p);
    };
    return std::ranges::all_of(node.inputs, permuted_alike) || turned_.insert(node.name).second;
  }

  std::set<std::string> turned_;
};

// ---- to the side of the codes

/// permute(dequantize(x)) becomes dequantize(permute(x)).
std::optional<TensorId> permute_codes_before(Rewriter& rewriter, const Node& node) {
  const Node* from = node.is<Permute>() ? rewriter.producer<Dequantize>(node.inputs[0]) : nullptr;
  if (!from || rewriter.uses(from->out()) != 1) return std::nullopt;
  const TensorId codes = from->inputs[0];
  const std::string name = rewriter.name(node.out());
  const TensorId moved =
      rewriter.replace(node, {name + ".codes", node.op, {codes}, permuted_type(rewriter.type(codes), axes_of(node))});
  return rewriter.replace(*from, {name, from->op, {moved}, rewriter.type(node.out())});
}

/// quantize(permute(x)) becomes permute(quantize(x)).
std::optional<TensorId> permute_codes_after(Rewriter& rewriter, const Node& node) {
  const Node* from = node.is<Quantize>() ? rewriter.producer<Permute>(node.inputs[0]) : nullptr;
  if (!from || rewriter.uses(from->out()) != 1) return std::nullopt;
  const TensorType type = rewriter.type(node.out());
  const std::string name = rewriter.name(node.out());
  const TensorId codes = rewriter.replace(node, {permuted_name(name, inverse(axes_of(*from))),
                                                 node.op,
                                                 {from->inputs[0]},
                                                 permuted_type(type, inverse(axes_of(*from)))});
  return rewriter.replace(*from, {name, from->op, {codes}, type});
}

// ---- into the weights of a linear

/// Row-major indices of a tensor of this shape, in the order that permute(p) gives them.
std::vector<int64_t> permuted_indices(const Shape& shape, const Axes& p) {
  HostTensor indices(DType::kInt64, shape);
  std::iota(indices.as<int64_t>(), indices.as<int64_t>() + indices.size(), int64_t{0});
  const HostTensor moved = permuted(indices, std::vector<int>(p.begin(), p.end()));
  return {moved.as<int64_t>(), moved.as<int64_t>() + moved.size()};
}

/// Where a permute of this shape becomes one of its last axes alone, which hold `count` elements: the first of them.
std::optional<size_t> tail_of(const Shape& shape, const Axes& p, int64_t count) {
  size_t first = shape.size();
  int64_t product = 1;
  while (first > 0 && (product < count || shape[first - 1] == 1)) product *= shape[--first];
  if (product != count) return std::nullopt;
  const auto leading = p.begin() + static_cast<ptrdiff_t>(first);
  const Axes head(p.begin(), leading);
  if (!is_identity(head) ||
      std::ranges::any_of(head, [&](int64_t axis) { return axis >= static_cast<int64_t>(first); }))
    return std::nullopt;
  return first;
}

/// The order of the last `count` elements that a permute gives them, for each of its leading elements alike.
std::optional<std::vector<int64_t>> tail_order(const Shape& shape, const Axes& p, int64_t count) {
  const auto first = tail_of(shape, p, count);
  if (!first) return std::nullopt;
  Axes tail(p.begin() + static_cast<ptrdiff_t>(*first), p.end());
  for (int64_t& axis : tail) axis -= static_cast<int64_t>(*first);
  return permuted_indices(Shape(shape.begin() + static_cast<ptrdiff_t>(*first), shape.end()), tail);
}

/// A weight whose column order[k] is the old column k.
HostTensor with_columns(const HostTensor& weight, const std::vector<int64_t>& order) {
  HostTensor out(weight.dtype(), weight.shape());
  const size_t width = dtype_bytes(weight.dtype()), columns = order.size();
  for (size_t row = 0; row < static_cast<size_t>(weight.shape()[0]); ++row)
    for (size_t k = 0; k < columns; ++k)
      std::memcpy(out.raw() + (row * columns + static_cast<size_t>(order[k])) * width,
                  weight.raw() + (row * columns + k) * width, width);
  return out;
}

std::optional<TensorId> move_columns(Rewriter& rewriter, const Node& node) {
  const Node* view = node.is<Linear>() ? rewriter.producer<Reshape>(node.inputs[0]) : nullptr;
  const Node* permute = view ? rewriter.producer<Permute>(view->inputs[0]) : nullptr;
  if (!permute || !rewriter.is_constant(node.inputs[1])) return std::nullopt;
  const TensorId x = permute->inputs[0];
  const TensorType seen = rewriter.type(view->out());
  const auto order = tail_order(rewriter.shape(x), axes_of(*permute), seen.shape.back());
  if (!order) return std::nullopt;
  const Tensor weight = rewriter.graph()[node.inputs[1]];
  std::vector<TensorId> inputs = node.inputs;
  inputs[0] = rewriter.replace(*view, {rewriter.name(view->out()) + ".moved", view->op, {x}, seen});
  inputs[1] = rewriter.add_constant(weight.name + ".moved", with_columns(*weight.data, *order), weight.type.quant);
  return rewriter.replace(node, {rewriter.name(node.out()), node.op, inputs, rewriter.type(node.out())});
}

/// A weight or bias whose row i is the old row order[i], with its scales.
TensorId with_rows(Rewriter& rewriter, TensorId id, const std::vector<int64_t>& order) {
  const Tensor old = rewriter.graph()[id];
  HostTensor data(old.type.dtype, old.type.shape);
  const size_t bytes = data.bytes() / order.size();
  std::optional<Quant> quant = old.type.quant;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto from = static_cast<size_t>(order[i]);
    std::memcpy(data.raw() + i * bytes, old.data->raw() + from * bytes, bytes);
    if (quant && quant->axis == 0) {
      quant->scale[i] = old.type.quant->scale[from];
      quant->zero_point[i] = old.type.quant->zero_point[from];
    }
  }
  return rewriter.add_constant(old.name + ".moved", std::move(data), quant);
}

/// All but the first input are constants, as far as they are there.
bool has_constant_weights(const Rewriter& rewriter, const Node& node) {
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](TensorId id) { return !id.valid() || rewriter.is_constant(id); });
}

std::optional<TensorId> move_rows(Rewriter& rewriter, const Node& node) {
  const Node* view = node.is<Permute>() ? rewriter.producer<Reshape>(node.inputs[0]) : nullptr;
  const Node* linear = view ? rewriter.producer<Linear>(view->inputs[0]) : nullptr;
  if (!linear || rewriter.uses(view->out()) != 1 || rewriter.uses(linear->out()) != 1 ||
      !has_constant_weights(rewriter, *linear))
    return std::nullopt;
  const TensorType product = rewriter.type(linear->out()), type = rewriter.type(node.out());
  const auto order = tail_order(rewriter.shape(view->out()), axes_of(node), product.shape.back());
  if (!order) return std::nullopt;
  std::vector<TensorId> inputs{linear->inputs[0]};
  for (size_t i = 1; i < linear->inputs.size(); ++i)
    inputs.push_back(linear->inputs[i].valid() ? with_rows(rewriter, linear->inputs[i], *order) : TensorId{});
  const TensorId moved =
      rewriter.replace(*linear, {rewriter.name(linear->out()) + ".moved", linear->op, inputs, product});
  return rewriter.replace(*view, {rewriter.name(node.out()), Reshape{type.shape}, {moved}, type});
}

}  // namespace

Graph remove_transposes(Graph graph) {
  graph = rewrite(share_nodes(std::move(graph)), {join_permutes, join_views, sink_view, hoist_permute});
  graph = rewrite(share_nodes(std::move(graph)), {join_permutes, join_views, sink_view, PermuteSinker()});
  graph = rewrite(share_nodes(std::move(graph)), {join_permutes, permute_codes_before, permute_codes_after});
  return rewrite(share_nodes(std::move(graph)), {become_view, join_views, sink_view, move_columns, move_rows});
}

}  // namespace rush
