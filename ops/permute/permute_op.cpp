// SPDX-License-Identifier: Apache-2.0
//
// Permute on the host. Axes of size 1 are dropped and axes that stay neighbours become one; what is then no
// permutation any more is a view.
#include "ops/permute/permute_op.h"

#include <algorithm>
#include <numeric>

#include "ops/identity/copy_step.h"
#include "ops/node_error.h"
#include "ops/permute/permute.h"

namespace rush {
namespace {

std::vector<int> axes_of(const NodeTypes& types) {
  const std::vector<int64_t>& axes = types.node.as<Permute>()->axes;
  return {axes.begin(), axes.end()};
}

bool is_permutation_of_axes(std::vector<int> axes, size_t rank) {
  std::vector<int> expected(rank);
  std::iota(expected.begin(), expected.end(), 0);
  std::ranges::sort(axes);
  return axes == expected;
}

std::vector<TensorType> infer(const NodeTypes& types) {
  TensorType type = types.input(0);
  const std::vector<int> axes = axes_of(types);
  if (!is_permutation_of_axes(axes, type.shape.size()))
    throw damaged_node(types, "the axes are no order of the input's axes");
  for (size_t k = 0; k < axes.size(); ++k) type.shape[k] = types.input(0).shape[static_cast<size_t>(axes[k])];
  if (type.quant && !type.quant->per_tensor())
    type.quant->axis = static_cast<int>(std::ranges::find(axes, type.quant->axis) - axes.begin());
  return {type};
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  return {permuted(*inputs[0], axes_of(types))};
}

/// One axis of the output: its size, and how far apart its elements lie in the input.
struct Axis {
  int64_t size;
  int64_t stride;
};

std::vector<Axis> collapsed_axes(const NodeTypes& types) {
  const Shape& shape = types.input(0).shape;
  const Shape strides = strides_of(shape);
  std::vector<Axis> out;
  for (const int axis : axes_of(types)) {
    const Axis next{shape[static_cast<size_t>(axis)], strides[static_cast<size_t>(axis)]};
    if (next.size == 1) continue;
    if (!out.empty() && out.back().stride == next.stride * next.size) {
      out.back() = {out.back().size * next.size, next.stride};
    } else {
      out.push_back(next);
    }
  }
  return out;
}

PermuteParams params_of(const std::vector<Axis>& axes) {
  PermuteParams params;
  const size_t ones = kPermuteRank - axes.size();
  for (size_t k = 0; k < kPermuteRank; ++k) {
    params.shape[k] = k < ones ? 1 : static_cast<uint32_t>(axes[k - ones].size);
    params.stride[k] = k < ones ? 0 : static_cast<uint32_t>(axes[k - ones].stride);
  }
  return params;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const std::vector<Axis> axes = collapsed_axes(types);
  if (axes.size() < 2) {
    view_or_copy(types, lowering);
    return std::nullopt;
  }
  const size_t width = dtype_bytes(types.input(0).dtype);
  if ((width != 1 && width != 4) || axes.size() > kPermuteRank)
    return "permute of " + to_string(types.input(0)) + " has no kernel";
  lowering.emit({.family = find_kernel_family(width == 1 ? "permute_8" : "permute_32"),
                 .params = params_bytes(params_of(axes)),
                 .operands = {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}}});
  return std::nullopt;
}

}  // namespace

const OpDef permute_op = {Permute::kName, [] { return Op(Permute{}); }, infer, evaluate, lower, QuantRule::kMoved};

const HostKernel permute_8_host = {
    .contract = &permute_8_contract, .run = permute_8_scalar, .packing = {}, .stack_bytes = 224};
const HostKernel permute_32_host = {
    .contract = &permute_32_contract, .run = permute_32_scalar, .packing = {}, .stack_bytes = 128};

}  // namespace rush
