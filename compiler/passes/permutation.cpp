// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/permutation.h"

#include <algorithm>
#include <numeric>

#include "ops/activation/activation_op.h"
#include "ops/add/add_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/mean/mean_op.h"
#include "ops/pad/pad_op.h"
#include "ops/quantize/quantize_op.h"
#include "ops/rescale/rescale_op.h"
#include "ops/reshape/reshape_op.h"
#include "ops/softmax/softmax_op.h"

namespace rush {
namespace {

size_t at(int64_t axis) { return static_cast<size_t>(axis); }

bool is_elementwise(const Op& op) {
  return op.is<Activation>() || op.is<Add>() || op.is<Clamp>() || op.is<Dequantize>() || op.is<Quantize>() ||
         op.is<Rescale>();
}

/// amounts of axis p[k] for axis k.
Pad permuted_pad(const Pad& pad, const Axes& p) {
  Pad out = pad;
  for (size_t k = 0; k < p.size(); ++k)
    std::copy_n(pad.amounts.begin() + 2 * p[k], 2, out.amounts.begin() + 2 * static_cast<int64_t>(k));
  return out;
}

Axes renamed(const Axes& axes, const Axes& names) {
  Axes out;
  for (int64_t axis : axes) out.push_back(names[at(axis)]);
  std::ranges::sort(out);
  return out;
}

/// p without the axes `gone` of its result, the others numbered anew.
Axes without(const Axes& p, const Axes& gone) {
  Axes kept;
  for (size_t k = 0; k < p.size(); ++k)
    if (std::ranges::find(gone, static_cast<int64_t>(k)) == gone.end()) kept.push_back(p[k]);
  Axes sorted = kept;
  std::ranges::sort(sorted);
  for (int64_t& axis : kept) axis = std::ranges::lower_bound(sorted, axis) - sorted.begin();
  return kept;
}

/// Neighbouring axes of one shape that a reshape makes into neighbouring axes of another.
struct Group {
  Axes from, to;
};

Axes longer_than_one(const Shape& shape) {
  Axes axes;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

/// The smallest groups of equal element count, without axes of length 1. Both shapes have the same count.
std::vector<Group> reshape_groups(const Shape& from, const Shape& to) {
  const Axes a = longer_than_one(from), b = longer_than_one(to);
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    Group group{{a[i]}, {b[j]}};
    int64_t from_count = from[at(a[i++])], to_count = to[at(b[j++])];
    while (from_count != to_count) {
      if (from_count < to_count) {
        from_count *= from[at(a[i])];
        group.from.push_back(a[i++]);
      } else {
        to_count *= to[at(b[j])];
        group.to.push_back(b[j++]);
      }
    }
    groups.push_back(group);
  }
  return groups;
}

/// Sorts the groups by where their axes are in `order`, if each group's axes lie there one behind the other.
bool sort_groups(std::vector<Group>& groups, Axes Group::* side, const Axes& order) {
  const auto position = [&](int64_t axis) { return std::ranges::find(order, axis) - order.begin(); };
  for (const Group& group : groups)
    for (size_t i = 1; i < (group.*side).size(); ++i)
      if (position((group.*side)[i]) != position((group.*side)[i - 1]) + 1) return false;
  std::ranges::sort(groups, {}, [&](const Group& group) { return position((group.*side)[0]); });
  return true;
}

/// The axes of p whose length is not 1, for the shape that p permutes.
Axes longer_only(const Axes& p, const Shape& shape) {
  Axes out;
  std::ranges::copy_if(p, std::back_inserter(out), [&](int64_t axis) { return shape[at(axis)] != 1; });
  return out;
}

/// All axes of a shape in the order of the groups: axes of length 1 lead where they led, else they go before the axis
/// that they preceded, or last.
Axes joined(const std::vector<Group>& groups, Axes Group::* side, const Shape& shape) {
  Axes out;
  const auto take_ones_before = [&](int64_t axis) {
    int64_t first = axis;
    while (first > 0 && shape[at(first - 1)] == 1) --first;
    for (; first < axis; ++first)
      if (std::ranges::find(out, first) == out.end()) out.push_back(first);
  };
  const Axes longer = longer_than_one(shape);
  take_ones_before(longer.empty() ? std::ssize(shape) : longer[0]);
  for (const Group& group : groups) {
    for (int64_t axis : group.*side) {
      take_ones_before(axis);
      out.push_back(axis);
    }
  }
  take_ones_before(std::ssize(shape));
  return out;
}

std::optional<Passed> sink_through_reshape(const Reshape& reshape, const Shape& x, const Axes& p) {
  const Shape y = permuted_shape(x, p);
  if (element_count(y) == 0) return std::nullopt;
  std::vector<Group> groups = reshape_groups(y, reshape.shape);
  // The axes of y in the order in which x has them.
  if (!sort_groups(groups, &Group::from, longer_only(inverse(p), y))) return std::nullopt;
  const Axes order = joined(groups, &Group::to, reshape.shape);
  return Passed{Reshape{permuted_shape(reshape.shape, order)}, inverse(order)};
}

std::optional<Passed> hoist_through_reshape(const Reshape& reshape, const Shape& x, const Axes& p) {
  if (element_count(x) == 0) return std::nullopt;
  std::vector<Group> groups = reshape_groups(x, reshape.shape);
  if (!sort_groups(groups, &Group::to, longer_only(p, reshape.shape))) return std::nullopt;
  return Passed{Reshape{permuted_shape(reshape.shape, p)}, joined(groups, &Group::from, x)};
}

}  // namespace

Axes inverse(const Axes& p) {
  Axes out(p.size());
  for (size_t k = 0; k < p.size(); ++k) out[at(p[k])] = static_cast<int64_t>(k);
  return out;
}

Axes compose(const Axes& p, const Axes& q) {
  Axes out;
  for (int64_t k : q) out.push_back(p[at(k)]);
  return out;
}

bool is_identity(const Axes& p) { return std::ranges::is_sorted(p); }

bool moves_only_ones(const Shape& shape, const Axes& p) {
  Axes longer;
  std::ranges::copy_if(p, std::back_inserter(longer), [&](int64_t axis) { return shape[at(axis)] != 1; });
  return is_identity(longer);
}

Shape permuted_shape(const Shape& shape, const Axes& p) {
  Shape out;
  for (int64_t axis : p) out.push_back(shape[at(axis)]);
  return out;
}

TensorType permuted_type(const TensorType& type, const Axes& p) {
  TensorType out = type;
  out.shape = permuted_shape(type.shape, p);
  if (out.quant && !out.quant->per_tensor()) out.quant->axis = static_cast<int>(inverse(p)[at(out.quant->axis)]);
  return out;
}

std::optional<Passed> sink_through(const Op& op, const Shape& x, const Axes& p) {
  if (is_elementwise(op)) return Passed{op, p};
  if (const auto* pad = op.as<Pad>()) return Passed{permuted_pad(*pad, inverse(p)), p};
  if (const auto* concat = op.as<Concat>()) return Passed{Concat{p[at(concat->axis)]}, p};
  if (const auto* softmax = op.as<Softmax>()) return Passed{Softmax{p[at(softmax->axis)]}, p};
  if (const auto* mean = op.as<Mean>())
    return Passed{Mean{renamed(mean->axes, p), mean->keepdim}, mean->keepdim ? p : without(p, mean->axes)};
  if (const auto* reshape = op.as<Reshape>()) return sink_through_reshape(*reshape, x, p);
  return std::nullopt;
}

std::optional<Passed> hoist_through(const Op& op, const Shape& x, const Axes& p) {
  if (is_elementwise(op)) return Passed{op, p};
  if (const auto* pad = op.as<Pad>()) return Passed{permuted_pad(*pad, p), p};
  if (const auto* concat = op.as<Concat>()) return Passed{Concat{inverse(p)[at(concat->axis)]}, p};
  if (const auto* softmax = op.as<Softmax>()) return Passed{Softmax{inverse(p)[at(softmax->axis)]}, p};
  if (const auto* reshape = op.as<Reshape>()) return hoist_through_reshape(*reshape, x, p);
  return std::nullopt;
}

}  // namespace rush
