// SPDX-License-Identifier: Apache-2.0
//
// Softmax on the host: types and lowering.
#include "ops/softmax/softmax_op.h"

#include <cstddef>

#include "ops/node_error.h"
#include "ops/quantization.h"
#include "ops/softmax/softmax_ref.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) {
  const int64_t axis = types.node.as<Softmax>()->axis;
  if (axis < 0 || axis >= std::ssize(types.input(0).shape))
    throw damaged_node(types, "the axis does not fit the input");
  return {{types.input(0).dtype, types.input(0).shape, {}}};
}

/// Along the columns or channels of a map, row by row; else the whole tensor is one row.
SoftmaxWalk walk_of(const Shape& shape, int64_t axis, uint32_t element_bytes) {
  const ElementwiseRows map = elementwise_rows(shape);
  const bool by_rows = map.rows > 1 && axis >= 2;
  const uint16_t rows = by_rows ? map.rows : 1;
  const SoftmaxAxis row = softmax_axis(shape, axis);
  const auto outer = static_cast<uint32_t>(row.outer / rows), count = static_cast<uint32_t>(row.count);
  const auto inner = static_cast<uint32_t>(row.inner);
  const Rows whole = whole_map(outer * count * inner * element_bytes, rows);
  return {.in = whole, .out = whole, .rows = rows, .reserved = 0, .outer = outer, .count = count, .inner = inner};
}

/// The parts of a step that do not depend on the element type; the last operand is the output.
ProgramStep softmax_step(const SoftmaxWalk& walk, std::vector<OperandRef> operands) {
  const auto last = static_cast<int>(operands.size()) - 1;
  ProgramStep step{.params = {}, .operands = std::move(operands), .rows = walk.rows};
  step.rows_field.assign(step.operands.size(), -1);
  step.rows_field.front() = offsetof(SoftmaxWalk, in);
  step.rows_field.back() = offsetof(SoftmaxWalk, out);
  if (walk.rows > 1) step.row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}};
  // Vectors that interleave would overwrite each other if the output lay further back.
  if (walk.inner == 1) step.in_place = {{0, last}};
  return step;
}

std::optional<std::string> lower_int8(const NodeTypes& types, Lowering& lowering) {
  const Quant &in = *types.input(0).quant, &out = *types.output().quant;
  const auto scale = softmax_output_scale(out.scale[0]);
  if (!scale) return "softmax with an output scale below 2^-27 has no kernel";
  const SoftmaxWalk walk = walk_of(types.input(0).shape, types.node.as<Softmax>()->axis, 1);
  const BufferId table = lowering.constant("softmax.table", params_bytes(softmax_table(in.scale[0])), 4);
  ProgramStep step =
      softmax_step(walk, {{lowering.buffer(types.node.inputs[0])}, {table}, {lowering.buffer(types.node.out())}});
  const bool dense = walk.inner == 1 && lowering.isa() == Isa::kMve;
  step.family = find_kernel_family(dense ? "softmax_dense_s8" : "softmax_s8");
  step.params = params_bytes(SoftmaxParams{.walk = walk,
                                           .multiplier = scale->multiplier,
                                           .shift = scale->shift,
                                           .zero_point = static_cast<int32_t>(out.zero_point[0]),
                                           .range = {static_cast<int32_t>(out.min), static_cast<int32_t>(out.max)}});
  lowering.emit(std::move(step));
  return std::nullopt;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const TensorType& in = types.input(0);
  if (is_quantized_int8(in) && is_quantized_int8(types.output())) return lower_int8(types, lowering);
  if (in.dtype != DType::kFloat32) return "softmax of " + to_string(in) + " has no kernel";
  const SoftmaxWalk walk = walk_of(in.shape, types.node.as<Softmax>()->axis, 4);
  ProgramStep step = softmax_step(walk, {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}});
  step.family = find_kernel_family("softmax_f32");
  step.params = params_bytes(SoftmaxF32Params{walk});
  lowering.emit(std::move(step));
  return std::nullopt;
}

}  // namespace

const OpDef softmax_op = {Softmax::kName, [] { return Op(Softmax{}); }, infer, evaluate_softmax,
                          lower,          QuantRule::kProbability};

const HostKernel softmax_s8_host = {.contract = &softmax_s8_contract, .run = softmax_s8_scalar, .packing = {}};
const HostKernel softmax_dense_s8_host = {
    .contract = &softmax_dense_s8_contract, .run = softmax_dense_s8_scalar, .packing = {}};
const HostKernel softmax_f32_host = {.contract = &softmax_f32_contract, .run = softmax_f32_scalar, .packing = {}};

}  // namespace rush
