// SPDX-License-Identifier: Apache-2.0
//
//   x -> pad -> conv2d                       becomes    x -> conv2d with more padding
//   x -> pad -> avg_pool2d | max_pool2d      becomes    the same, where the pool's own padding means the same
//   x -> pad -> reshape [N,C,W] to [N,C,1,W] becomes    x -> reshape -> pad, so that the above can happen
//
// Each side on its own, so asymmetric padding too. Bit-exact: what the operator adds itself is what pad added. That
// is real 0 for conv2d and avg_pool2d (on codes: the zero point), and for max_pool2d something that never wins.
#include <algorithm>
#include <cmath>

#include "compiler/passes/passes.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/pad/pad_op.h"
#include "ops/quantization.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

/// Top, bottom, left, right; nothing where another axis is padded or a side is cropped.
std::optional<std::vector<int64_t>> spatial_amounts(const Pad& pad, const std::string& layout) {
  if (pad.amounts.size() != 8) return std::nullopt;
  const size_t height = layout == "nhwc" ? 1 : 2;
  std::vector<int64_t> sides;
  for (size_t axis = 0; axis < 4; ++axis) {
    const int64_t before = pad.amounts[2 * axis], after = pad.amounts[2 * axis + 1];
    const bool spatial = axis == height || axis == height + 1;
    if (before < 0 || after < 0 || (!spatial && before + after > 0)) return std::nullopt;
    if (spatial) sides.insert(sides.end(), {before, after});
  }
  return sides;
}

bool is_zero(const Pad& pad, const TensorType& type) {
  if (!type.quant) return pad.value == 0;
  return is_quantized_int8(type) && quantize_code(pad.value, *type.quant) == type.quant->zero_point[0];
}

bool never_wins(const Pad& pad, const TensorType& type) {
  if (!type.quant) return pad.value == -INFINITY;
  return is_quantized_int8(type) && quantize_code(pad.value, *type.quant) == type.quant->min;
}

bool all_zero(const std::vector<int64_t>& values) {
  return std::ranges::all_of(values, [](int64_t v) { return v == 0; });
}

std::vector<int64_t> sum(std::vector<int64_t> a, const std::vector<int64_t>& b) {
  std::ranges::transform(a, b, a.begin(), std::plus());
  return a;
}

std::optional<Op> padded_conv(const Conv2d& conv, const Pad& pad, const TensorType& type) {
  const auto amounts = spatial_amounts(pad, conv.layout);
  if (!amounts || !is_zero(pad, type)) return std::nullopt;
  Conv2d out = conv;
  out.padding = sum(out.padding, *amounts);
  return out;
}

/// Every window keeps an element of the map: pools do not take more padding.
bool reaches_map(const std::vector<int64_t>& padding, const std::vector<int64_t>& kernel,
                 const std::vector<int64_t>& dilation) {
  for (size_t side = 0; side < 4; ++side)
    if (padding[side] > (kernel[side / 2] - 1) * dilation[side / 2]) return false;
  return true;
}

/// Pad's zeros are counted, so the pool must count its padding, and may not have had any that it did not count. In
/// ceil mode the last window's fate depends on who padded.
std::optional<Op> padded_avg_pool(const AvgPool2d& pool, const Pad& pad, const TensorType& type) {
  const auto amounts = spatial_amounts(pad, pool.layout);
  const bool counts = pool.count_include_pad || pool.divisor != 0 || all_zero(pool.padding);
  if (!amounts || !is_zero(pad, type) || !counts || pool.ceil_mode) return std::nullopt;
  AvgPool2d out = pool;
  out.padding = sum(out.padding, *amounts);
  out.count_include_pad = true;
  if (!reaches_map(out.padding, out.kernel, {1, 1})) return std::nullopt;
  return out;
}

std::optional<Op> padded_max_pool(const MaxPool2d& pool, const Pad& pad, const TensorType& type) {
  const auto amounts = spatial_amounts(pad, pool.layout);
  if (!amounts || !never_wins(pad, type) || pool.ceil_mode) return std::nullopt;
  MaxPool2d out = pool;
  out.padding = sum(out.padding, *amounts);
  if (!reaches_map(out.padding, out.kernel, out.dilation)) return std::nullopt;
  return out;
}

std::optional<Op> padded(const Op& op, const Pad& pad, const TensorType& type) {
  if (const auto* conv = op.as<Conv2d>()) return padded_conv(*conv, pad, type);
  if (const auto* pool = op.as<AvgPool2d>()) return padded_avg_pool(*pool, pad, type);
  if (const auto* pool = op.as<MaxPool2d>()) return padded_max_pool(*pool, pad, type);
  return std::nullopt;
}

std::optional<TensorId> absorb_pad(Rewriter& rewriter, const Node& node) {
  const Node* pad = node.inputs.empty() ? nullptr : rewriter.producer<Pad>(node.inputs[0]);
  const auto op = pad ? padded(node.op, *pad->as<Pad>(), rewriter.type(pad->out())) : std::nullopt;
  if (!op) return std::nullopt;
  std::vector<TensorId> inputs = node.inputs;
  inputs[0] = pad->inputs[0];
  return rewriter.replace(node, {rewriter.name(node.out()), *op, inputs, rewriter.type(node.out())});
}

std::vector<size_t> axes_longer_than_one(const Shape& shape) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) axes.push_back(i);
  return axes;
}

/// Where each axis of `from` is in `to`, if they differ by axes of length 1 only.
std::optional<std::vector<std::pair<size_t, size_t>>> matching_axes(const Shape& from, const Shape& to) {
  const auto a = axes_longer_than_one(from), b = axes_longer_than_one(to);
  if (a.size() != b.size()) return std::nullopt;
  std::vector<std::pair<size_t, size_t>> pairs;
  for (size_t i = 0; i < a.size(); ++i) {
    if (from[a[i]] != to[b[i]]) return std::nullopt;
    pairs.emplace_back(a[i], b[i]);
  }
  return pairs;
}

std::optional<TensorId> sink_under_view(Rewriter& rewriter, const Node& node) {
  const Node* pad = node.is<Reshape>() ? rewriter.producer<Pad>(node.inputs[0]) : nullptr;
  if (!pad) return std::nullopt;
  const TensorType type = rewriter.type(node.out());
  const auto pairs = matching_axes(rewriter.shape(pad->out()), type.shape);
  if (!pairs) return std::nullopt;
  Pad moved{std::vector<int64_t>(2 * type.shape.size(), 0), pad->as<Pad>()->value};
  TensorType view = type;
  for (const auto& [from, to] : *pairs) {
    view.shape[to] = rewriter.shape(pad->inputs[0])[from];
    std::copy_n(pad->as<Pad>()->amounts.begin() + 2 * static_cast<ptrdiff_t>(from), 2,
                moved.amounts.begin() + 2 * static_cast<ptrdiff_t>(to));
  }
  const TensorId x = pad->inputs[0];
  if (element_count(view.shape) != element_count(rewriter.shape(x))) return std::nullopt;
  const std::string name = rewriter.name(node.out());
  const TensorId viewed = rewriter.replace(node, {rewriter.name(x) + ".view", Reshape{view.shape}, {x}, view});
  return rewriter.replace(*pad, {name, moved, {viewed}, type});
}

}  // namespace

Graph fold_pad(Graph graph) { return rewrite(std::move(graph), {absorb_pad, sink_under_view}); }

}  // namespace rush
