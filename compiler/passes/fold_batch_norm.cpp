// SPDX-License-Identifier: Apache-2.0
//
//   x -> conv2d(w, b) -> batch_norm    becomes    x -> conv2d(w * a, b * a + c)
//   x -> linear(w, b) -> batch_norm    becomes    x -> linear(w * a, b * a + c)
//   x -> batch_norm                    becomes    x -> depthwise 1x1 conv2d(a, c)
//
// with a = weight / sqrt(var + eps) and c = bias - mean * a, per channel. Computed in double; each weight is rounded
// to float32 once, so the result is not bit-exact.
#include <algorithm>
#include <cmath>

#include "compiler/passes/passes.h"
#include "ops/batch_norm/batch_norm_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/linear/linear_op.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

struct Affine {
  std::vector<double> scale, shift;
};

/// y = scale * x + shift for each channel, or nothing where a parameter is not a constant.
std::optional<Affine> affine_of(const Rewriter& rewriter, const Node& node) {
  const auto constant = [&](size_t i) {
    return i < node.inputs.size() && node.inputs[i].valid() ? rewriter.graph()[node.inputs[i]].data.get() : nullptr;
  };
  const HostTensor *weight = constant(1), *bias = constant(2), *mean = constant(3), *var = constant(4);
  if (!mean || !var || (node.inputs[1].valid() && !weight) || (node.inputs[2].valid() && !bias)) return std::nullopt;
  Affine affine;
  for (int64_t c = 0; c < mean->size(); ++c) {
    const double scale = (weight ? weight->number(c) : 1.0) / std::sqrt(var->number(c) + node.as<BatchNorm>()->eps);
    affine.scale.push_back(scale);
    affine.shift.push_back((bias ? bias->number(c) : 0.0) - mean->number(c) * scale);
  }
  return affine;
}

HostTensor scaled_rows(const HostTensor& weight, const Affine& affine) {
  HostTensor out = weight;
  const int64_t row = weight.size() / weight.shape()[0];
  for (int64_t i = 0; i < out.size(); ++i)
    out.set_number(i, weight.number(i) * affine.scale[static_cast<size_t>(i / row)]);
  return out;
}

HostTensor folded_bias(const HostTensor* bias, const Affine& affine) {
  HostTensor out(DType::kFloat32, {static_cast<int64_t>(affine.scale.size())});
  for (size_t c = 0; c < affine.scale.size(); ++c) {
    const auto i = static_cast<int64_t>(c);
    out.set_number(i, (bias ? bias->number(i) : 0.0) * affine.scale[c] + affine.shift[c]);
  }
  return out;
}

/// The operator's output range is still open, so that what follows may be folded into its weights.
bool is_unclamped(const Node& node) {
  const auto open = [](const auto* op) { return op && std::isinf(op->min) && std::isinf(op->max); };
  return open(node.as<Conv2d>()) || open(node.as<Linear>());
}

/// Axis 1 of the output is the weight's axis 0.
bool has_channels_second(const Rewriter& rewriter, const Node& node) {
  if (const auto* conv = node.as<Conv2d>()) return conv->layout == "nchw";
  return node.is<Linear>() && rewriter.shape(node.out()).size() == 2;
}

bool is_foldable(const Rewriter& rewriter, const Node& node) {
  const bool bias = node.inputs.size() > 2 && node.inputs[2].valid();
  return is_unclamped(node) && has_channels_second(rewriter, node) && rewriter.uses(node.out()) == 1 &&
         rewriter.is_constant(node.inputs[1]) && rewriter.type(node.inputs[1]).dtype == DType::kFloat32 &&
         (!bias || rewriter.is_constant(node.inputs[2]));
}

std::optional<TensorId> fold_into_weights(Rewriter& rewriter, const Node& node) {
  const Node* from = node.is<BatchNorm>() ? rewriter.producer(node.inputs[0]) : nullptr;
  if (!from || !is_foldable(rewriter, *from)) return std::nullopt;
  const auto affine = affine_of(rewriter, node);
  if (!affine) return std::nullopt;
  const TensorId weight = from->inputs[1], bias = from->inputs.size() > 2 ? from->inputs[2] : TensorId{};
  const HostTensor* old_bias = bias.valid() ? rewriter.graph()[bias].data.get() : nullptr;
  HostTensor new_weight = scaled_rows(*rewriter.graph()[weight].data, *affine);
  HostTensor new_bias = folded_bias(old_bias, *affine);
  const std::string name = rewriter.name(weight);
  const TensorId w = rewriter.add_constant(name + ".folded", std::move(new_weight));
  const TensorId b =
      rewriter.add_constant((bias.valid() ? rewriter.name(bias) : name + ".bias") + ".folded", std::move(new_bias));
  return rewriter.replace(*from,
                          {rewriter.name(node.out()), from->op, {from->inputs[0], w, b}, rewriter.type(node.out())});
}

/// batch_norm(reshape(x)) is reshape(batch_norm(x)) where the channels stay on axis 1: a 1-D convolution's view.
std::optional<TensorId> hoist_over_reshape(Rewriter& rewriter, const Node& node) {
  const Node* reshape = node.is<BatchNorm>() ? rewriter.producer<Reshape>(node.inputs[0]) : nullptr;
  if (!reshape || rewriter.uses(reshape->out()) != 1) return std::nullopt;
  const Shape from = rewriter.shape(reshape->inputs[0]), to = rewriter.shape(reshape->out());
  if (from.size() < 2 || to.size() < 2 || from[0] != to[0] || from[1] != to[1]) return std::nullopt;
  std::vector<TensorId> inputs = node.inputs;
  inputs[0] = reshape->inputs[0];
  const std::string name = rewriter.name(node.out());
  const TensorId normed = rewriter.replace(node, {name + ".view", node.op, inputs, {DType::kFloat32, from, {}}});
  return rewriter.replace(*reshape, {name, reshape->op, {normed}, rewriter.type(node.out())});
}

/// [N,C], [N,C,W] or [N,C,H,W] as a map.
Shape as_map(const Shape& shape) {
  Shape map{shape[0], shape[1], 1, 1};
  std::copy_backward(shape.begin() + 2, shape.end(), map.end());
  return map;
}

std::optional<TensorId> become_depthwise(Rewriter& rewriter, const Node& node) {
  const auto affine = node.is<BatchNorm>() ? affine_of(rewriter, node) : std::nullopt;
  const Shape shape = rewriter.shape(node.out());
  if (!affine || shape.size() < 2 || shape.size() > 4) return std::nullopt;
  const auto channels = static_cast<int64_t>(affine->scale.size());
  const std::string name = rewriter.name(node.out());
  const TensorType map{DType::kFloat32, as_map(shape), {}};
  const TensorId w = rewriter.add_constant(name + ".weight",
                                           make_tensor(DType::kFloat32, {channels, 1, 1, 1},
                                                       std::vector<float>(affine->scale.begin(), affine->scale.end())));
  const TensorId b = rewriter.add_constant(name + ".bias", folded_bias(nullptr, *affine));
  const Conv2d conv{.groups = channels};
  if (shape.size() == 4) return rewriter.replace(node, {name, conv, {node.inputs[0], w, b}, map});
  const TensorId x = rewriter.insert(node, {name + ".in", Reshape{map.shape}, {node.inputs[0]}, map});
  const TensorId y = rewriter.replace(node, {name + ".map", conv, {x, w, b}, map});
  return rewriter.insert(node, {name, Reshape{shape}, {y}, rewriter.type(node.out())});
}

}  // namespace

Graph fold_batch_norm(Graph graph) {
  return rewrite(std::move(graph), {fold_into_weights, hoist_over_reshape, become_depthwise});
}

}  // namespace rush
