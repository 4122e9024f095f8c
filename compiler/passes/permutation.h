// SPDX-License-Identifier: Apache-2.0
//
// Permutations of axes, and how a permute passes through an operator. A permute p of x is the tensor with
// shape[k] = x.shape[p[k]].
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir/graph.h"

namespace rush {

using Axes = std::vector<int64_t>;

Axes inverse(const Axes& p);
/// permute(permute(x, p), q) is permute(x, compose(p, q)).
Axes compose(const Axes& p, const Axes& q);
bool is_identity(const Axes& p);
/// The elements stay in their order: only axes of length 1 change places.
bool moves_only_ones(const Shape& shape, const Axes& p);

Shape permuted_shape(const Shape& shape, const Axes& p);
/// Per-channel quantization follows its axis.
TensorType permuted_type(const TensorType& type, const Axes& p);

/// An operator on the far side of a permute, and the permute that remains on the other side.
struct Passed {
  Op op;
  Axes axes;
};

/// op(permute(x, p)) = permute(passed.op(x), passed.axes), for the shape of x.
std::optional<Passed> sink_through(const Op& op, const Shape& x, const Axes& p);

/// permute(op(x), p) = passed.op(permute(x, passed.axes)), for the shape of x.
std::optional<Passed> hoist_through(const Op& op, const Shape& x, const Axes& p);

}  // namespace rush
