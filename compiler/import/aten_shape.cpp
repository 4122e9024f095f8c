// SPDX-License-Identifier: Apache-2.0
//
// Operators that move elements: reshapes, transposes, padding, concatenation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "compiler/import/aten_map.h"
#include "ops/concat/concat_op.h"
#include "ops/identity/identity_op.h"
#include "ops/pad/pad_op.h"
#include "ops/permute/permute_op.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

using Axes = std::vector<int64_t>;

/// Replaces the one -1 by what the element count leaves for it.
Shape completed(Call& call, Shape shape, int64_t count) {
  int64_t known = 1;
  int64_t* open = nullptr;
  for (int64_t& size : shape) {
    if (size == -1 && !open)
      open = &size;
    else if (size < 1 || (known *= size) > kMaxElements)
      call.fail("cannot reshape to " + to_string(shape));
  }
  if (open) *open = count / known;
  if (known * (open ? *open : 1) != count)
    call.fail(fmt::format("cannot reshape {} elements to {}", count, to_string(shape)));
  return shape;
}

/// A reshape of a reshape is one of the original.
TensorId before_reshape(Call& call, TensorId id) {
  const Node* from = call.writer().producer(id);
  return from && from->is<Reshape>() ? from->inputs[0] : id;
}

void finish_reshape(Call& call, Shape shape) {
  const TensorId x = call.tensor("self");
  const Reshape reshape{completed(call, std::move(shape), element_count(call.shape(x)))};
  call.finish(reshape, {before_reshape(call, x)});
  call.shares_memory_with("self");
}

void translate_view(Call& call) { finish_reshape(call, call.integers("size")); }

void translate_reshape(Call& call) { finish_reshape(call, call.integers("shape")); }

void translate_flatten(Call& call) {
  const Shape from = call.shape(call.tensor("self"));
  const auto first = static_cast<size_t>(call.axis("start_dim", from.size(), 0));
  const auto last = static_cast<size_t>(call.axis("end_dim", from.size(), -1));
  if (first > last) call.fail(fmt::format("start_dim {} comes after end_dim {}", first, last));
  Shape to(from.begin(), from.begin() + static_cast<ptrdiff_t>(first));
  int64_t joined = 1;
  for (size_t i = first; i <= last && i < from.size(); ++i) joined *= from[i];
  to.push_back(joined);
  for (size_t i = last + 1; i < from.size(); ++i) to.push_back(from[i]);
  finish_reshape(call, to);
}

void translate_unflatten(Call& call) {
  const Shape from = call.shape(call.tensor("self"));
  const auto axis = static_cast<ptrdiff_t>(call.axis("dim", from.size()));
  if (from.empty()) call.fail("cannot unflatten a scalar");
  const Shape parts = completed(call, call.integers("sizes"), from[static_cast<size_t>(axis)]);
  Shape to(from.begin(), from.begin() + axis);
  to.insert(to.end(), parts.begin(), parts.end());
  to.insert(to.end(), from.begin() + axis + 1, from.end());
  finish_reshape(call, to);
}

void translate_unsqueeze(Call& call) {
  Shape shape = call.shape(call.tensor("self"));
  const int64_t axis = call.axis("dim", shape.size() + 1);
  shape.insert(shape.begin() + axis, 1);
  finish_reshape(call, shape);
}

/// Takes out the axes of size 1 among `axes`.
void finish_squeeze(Call& call, const Axes& axes) {
  const Shape from = call.shape(call.tensor("self"));
  Shape to;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1 || std::ranges::count(axes, static_cast<int64_t>(i)) == 0) to.push_back(from[i]);
  }
  finish_reshape(call, to);
}

void translate_squeeze_all(Call& call) {
  Axes axes(call.rank(call.tensor("self")));
  std::iota(axes.begin(), axes.end(), 0);
  finish_squeeze(call, axes);
}

void translate_squeeze(Call& call) { finish_squeeze(call, call.axes("dim", call.rank(call.tensor("self")))); }

void translate_permute(Call& call) {
  const size_t rank = call.rank(call.tensor("self"));
  const Axes axes = call.axes("dims", rank);
  Axes sorted = axes;
  std::ranges::sort(sorted);
  if (axes.size() != rank || std::ranges::adjacent_find(sorted) != sorted.end())
    call.fail(fmt::format("dims {} is not a permutation of {} axes", to_string(axes), rank));
  call.finish_view(Permute{axes}, "self");
}

void finish_swap(Call& call, int64_t a, int64_t b) {
  Axes axes(call.rank(call.tensor("self")));
  if (axes.empty()) return call.finish_view(Identity{"transpose"}, "self");
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<size_t>(a)], axes[static_cast<size_t>(b)]);
  call.finish_view(Permute{axes}, "self");
}

void translate_transpose(Call& call) {
  const size_t rank = call.rank(call.tensor("self"));
  finish_swap(call, call.axis("dim0", rank), call.axis("dim1", rank));
}

void translate_t(Call& call) {
  const size_t rank = call.rank(call.tensor("self"));
  if (rank > 2) call.fail(fmt::format("t() of a tensor of rank {}", rank));
  finish_swap(call, 0, rank == 2 ? 1 : 0);
}

/// PyTorch lists before and after from the last axis backwards; ours first axis first.
Axes pad_amounts(Call& call, size_t rank) {
  const Axes given = call.integers("pad");
  if (given.size() % 2 != 0 || given.size() > 2 * rank)
    call.fail(fmt::format("pad {} does not fit a tensor of rank {}", to_string(given), rank));
  if (!given.empty() && std::ranges::min(given) < 0)
    call.unsupported(fmt::format("negative padding {} (cropping)", to_string(given)));
  Axes amounts(2 * rank, 0);
  for (size_t i = 0; i < given.size(); ++i) amounts[2 * (rank - 1 - i / 2) + i % 2] = given[i];
  return amounts;
}

void translate_pad(Call& call) {
  const std::string mode = call.text("mode", "constant");
  if (mode != "constant") call.unsupported("padding mode \"" + printable(mode) + "\"");
  const TensorId x = call.tensor("self");
  Pad pad{pad_amounts(call, call.rank(x)), call.real("value", 0)};
  if (!call.has_map(x)) return call.finish(pad, {x});
  pad.amounts.insert(pad.amounts.begin() + 4, {0, 0});
  call.finish_map(call.step(pad, {call.to_map(x)}));
}

void translate_concat(Call& call) {
  std::vector<TensorId> parts = call.tensors("tensors");
  if (parts.empty()) call.fail("nothing to concatenate");
  const int64_t axis = call.axis("dim", call.rank(parts[0]), 0);
  const bool lines = std::ranges::all_of(parts, [&](TensorId id) { return call.rank(id) == 3; }) &&
                     std::ranges::any_of(parts, [&](TensorId id) { return call.has_map(id); });
  if (!lines) return call.finish(Concat{axis}, std::move(parts));
  for (TensorId& part : parts) part = call.to_map(part);
  call.finish_map(call.step(Concat{axis == 2 ? 3 : axis}, std::move(parts)));
}

constexpr auto kOperators = std::to_array<AtenOperator>({
    {"aten.view.default", translate_view, &reshape_op},
    {"aten._unsafe_view.default", translate_view, &reshape_op},
    {"aten.reshape.default", translate_reshape, &reshape_op},
    {"aten.flatten.using_ints", translate_flatten, &reshape_op},
    {"aten.unflatten.int", translate_unflatten, &reshape_op},
    {"aten.unsqueeze.default", translate_unsqueeze, &reshape_op},
    {"aten.squeeze.default", translate_squeeze_all, &reshape_op},
    {"aten.squeeze.dim", translate_squeeze, &reshape_op},
    {"aten.squeeze.dims", translate_squeeze, &reshape_op},
    {"aten.permute.default", translate_permute, &permute_op},
    {"aten.transpose.int", translate_transpose, &permute_op},
    {"aten.t.default", translate_t, &permute_op},
    {"aten.pad.default", translate_pad, &pad_op},
    {"aten.constant_pad_nd.default", translate_pad, &pad_op},
    {"aten.cat.default", translate_concat, &concat_op},
    {"aten.concat.default", translate_concat, &concat_op},
});

}  // namespace

std::span<const AtenOperator> shape_operators() { return kOperators; }

}  // namespace rush
