// SPDX-License-Identifier: Apache-2.0
//
// Concat on the host: each input is copied to its place in the output, strided where the axis is an inner one. An
// input with another quantization is rescaled first.
#include "ops/concat/concat_op.h"

#include <cstddef>
#include <cstring>

#include "ops/identity/copy_step.h"
#include "ops/node_error.h"
#include "ops/quantization.h"
#include "ops/rescale/code_table_op.h"

namespace rush {
namespace {

size_t axis_of(const NodeTypes& types) { return static_cast<size_t>(types.node.as<Concat>()->axis); }

bool differ_only_along(size_t axis, Shape a, Shape b) {
  if (a.size() != b.size()) return false;
  a[axis] = b[axis] = 0;
  return a == b;
}

std::vector<TensorType> infer(const NodeTypes& types) {
  TensorType type = types.input(0);
  const size_t axis = axis_of(types);
  if (axis >= type.shape.size()) throw damaged_node(types, "the axis is none of the inputs'");
  type.shape[axis] = 0;
  for (size_t i = 0; i < types.node.inputs.size(); ++i) {
    const TensorType& in = types.input(i);
    if (in.dtype != type.dtype || in.quant.has_value() != type.quant.has_value() ||
        !differ_only_along(axis, in.shape, type.shape))
      throw damaged_node(types, "inputs of different types cannot be concatenated");
    type.shape[axis] += in.shape[axis];
  }
  if (type.quant) type.quant = types.output().quant;
  return {type};
}

/// How an input lies in the output: `segments` pieces, `pitch` bytes apart, the first at `offset`.
struct Part {
  size_t segments;
  size_t bytes;
  size_t pitch;
  size_t offset;
};

std::vector<Part> parts_of(const NodeTypes& types) {
  const TensorType& out = types.output();
  const size_t axis = axis_of(types), inner = static_cast<size_t>(strides_of(out.shape)[axis]) * dtype_bytes(out.dtype);
  const size_t pitch = static_cast<size_t>(out.shape[axis]) * inner;
  const size_t segments = static_cast<size_t>(element_count(out.shape)) * dtype_bytes(out.dtype) / pitch;
  std::vector<Part> parts;
  size_t offset = 0;
  for (size_t i = 0; i < types.node.inputs.size(); ++i) {
    parts.push_back({segments, static_cast<size_t>(types.input(i).shape[axis]) * inner, pitch, offset});
    offset += parts.back().bytes;
  }
  return parts;
}

bool is_rescaled(const NodeTypes& types, size_t i) {
  return types.input(i).quant && types.input(i).quant != types.output().quant;
}

CodeTable rescaling(const NodeTypes& types, size_t i) {
  return code_table(*types.input(i).quant, *types.output().quant, [](double real) { return real; });
}

void place(const Part& part, const HostTensor& in, HostTensor& out) {
  for (size_t s = 0; s < part.segments; ++s)
    std::memcpy(out.raw() + part.offset + s * part.pitch, in.raw() + s * part.bytes, part.bytes);
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  HostTensor out(types.output().dtype, types.output().shape);
  const std::vector<Part> parts = parts_of(types);
  for (size_t i = 0; i < inputs.size(); ++i)
    place(parts[i], is_rescaled(types, i) ? look_up(*inputs[i], rescaling(types, i)) : *inputs[i], out);
  return {out};
}

/// A part as the copy kernel walks it. The inner axes of a map go row by row, so that they can run in bands.
StridedCopy strided_copy(const NodeTypes& types, const Part& part) {
  const uint16_t rows = axis_of(types) >= 2 ? elementwise_rows(types.output().shape).rows : uint16_t{1};
  StridedCopy copy{.rows = rows,
                   .segments = static_cast<uint32_t>(part.segments / rows),
                   .segment_bytes = static_cast<uint32_t>(part.bytes),
                   .in_pitch = static_cast<uint32_t>(part.bytes),
                   .out_pitch = static_cast<uint32_t>(part.pitch),
                   .in_row_bytes = 0,
                   .out_row_bytes = 0};
  copy.in_row_bytes = copy.segments * copy.in_pitch;
  copy.out_row_bytes = copy.segments * copy.out_pitch;
  return copy;
}

void lower_part(const NodeTypes& types, size_t i, const Part& part, Lowering& lowering) {
  const OperandRef to{lowering.buffer(types.node.out()), static_cast<uint32_t>(part.offset)};
  if (!is_rescaled(types, i))
    return lowering.emit(copy_step({lowering.buffer(types.node.inputs[i])}, to, strided_copy(types, part)));
  if (part.segments == 1) return lowering.emit(look_up_step(types, i, rescaling(types, i), to, lowering));
  const auto bytes = static_cast<uint32_t>(part.segments * part.bytes);
  const OperandRef between{lowering.scratch(types.node.name + ".rescaled", bytes, 1)};
  lowering.emit(look_up_step(types, i, rescaling(types, i), between, lowering));
  lowering.emit(copy_step(between, to, strided_copy(types, part)));
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const std::vector<Part> parts = parts_of(types);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (is_rescaled(types, i) && (!is_quantized_int8(types.input(i)) || !is_quantized_int8(types.output())))
      return "concat of " + to_string(types.input(i)) + " with another scale has no kernel";
    lower_part(types, i, parts[i], lowering);
  }
  return std::nullopt;
}

}  // namespace

const OpDef concat_op = {Concat::kName, [] { return Op(Concat{}); }, infer, evaluate, lower, QuantRule::kMoved};

}  // namespace rush
