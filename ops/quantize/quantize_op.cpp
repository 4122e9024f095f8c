// SPDX-License-Identifier: Apache-2.0
//
// Quantize on the host.
#include "ops/quantize/quantize_op.h"

#include <cstddef>

#include "ops/node_error.h"
#include "ops/quantization.h"
#include "ops/quantize/quantize.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) {
  const TensorType& in = types.input(0);
  const TensorType& out = types.output();
  internal_check(out.quant.has_value(), "quantize: \"" + types.node.name + "\" has no scale");
  if (in.dtype != DType::kFloat32) throw damaged_node(types, "takes float32, not " + to_string(in));
  return {{out.dtype, in.shape, out.quant}};
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const Quant& quant = *types.output().quant;
  HostTensor out(types.output().dtype, types.output().shape);
  for (int64_t i = 0; i < out.size(); ++i)
    out.set_number(i, quantize_code(inputs[0]->as<float>()[i], quant, channel_of(quant, out.shape(), i)));
  return {out};
}

/// Scales whose inverse and whose products stay clear of float32's ends; others are no quantization of anything.
bool sane(const Quant& quant) {
  return quant.scale[0] > 1e-30 && quant.scale[0] < 1e30 && quant.zero_point[0] >= INT16_MIN &&
         quant.zero_point[0] <= INT16_MAX;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (!is_quantized_int8(types.output()) || !sane(*types.output().quant))
    return "quantize to " + to_string(types.output()) + " has no kernel";
  const Quant& quant = *types.output().quant;
  const ElementwiseRows walk = elementwise_rows(types.input(0).shape);
  const QuantizeParams params = {.in = whole_map(walk.row_elements * 4, walk.rows),
                                 .out = whole_map(walk.row_elements, walk.rows),
                                 .rows = walk.rows,
                                 .zero_point = static_cast<int16_t>(quant.zero_point[0]),
                                 .row_elements = walk.row_elements,
                                 .inverse_scale = static_cast<float>(1.0 / quant.scale[0]),
                                 .min = static_cast<int16_t>(quant.min),
                                 .max = static_cast<int16_t>(quant.max)};
  lowering.emit({.family = find_kernel_family("quantize_f32_s8"),
                 .params = params_bytes(params),
                 .operands = {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}},
                 .rows = walk.rows,
                 .in_place = {{0, 1}},
                 .row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}},
                 .rows_field = {offsetof(QuantizeParams, in), offsetof(QuantizeParams, out)}});
  return std::nullopt;
}

}  // namespace

const OpDef quantize_op = {Quantize::kName, [] { return Op(Quantize{}); }, infer, evaluate, lower};

const HostKernel quantize_f32_s8_host = {
    .contract = &quantize_f32_s8_contract, .run = quantize_f32_s8_scalar, .packing = {}, .stack_bytes = 192};

}  // namespace rush
