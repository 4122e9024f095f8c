// SPDX-License-Identifier: Apache-2.0
//
// Dequantize on the host.
#include "ops/dequantize/dequantize_op.h"

#include <cstddef>

#include "ops/dequantize/dequantize.h"
#include "ops/op_def.h"
#include "ops/quantization.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) {
  internal_check(types.input(0).quant.has_value(), "dequantize: \"" + types.node.name + "\" is given no codes");
  return {{DType::kFloat32, types.input(0).shape, {}}};
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const Quant& quant = *types.input(0).quant;
  HostTensor out(DType::kFloat32, inputs[0]->shape());
  for (int64_t i = 0; i < out.size(); ++i) {
    const auto code = static_cast<int64_t>(inputs[0]->number(i));
    out.as<float>()[i] = dequantize_code(code, quant, channel_of(quant, out.shape(), i));
  }
  return {out};
}

/// Scales whose products are no subnormal floats, which Helium flushes, and no infinities.
bool sane(const Quant& quant) {
  return quant.scale[0] > 1e-30 && quant.scale[0] < 1e30 && quant.zero_point[0] >= INT16_MIN &&
         quant.zero_point[0] <= INT16_MAX;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (!is_quantized_int8(types.input(0)) || !sane(*types.input(0).quant))
    return "dequantize of " + to_string(types.input(0)) + " has no kernel";
  const Quant& quant = *types.input(0).quant;
  const ElementwiseRows walk = elementwise_rows(types.input(0).shape);
  const DequantizeParams params = {.in = whole_map(walk.row_elements, walk.rows),
                                   .out = whole_map(walk.row_elements * 4, walk.rows),
                                   .rows = walk.rows,
                                   .zero_point = static_cast<int16_t>(quant.zero_point[0]),
                                   .row_elements = walk.row_elements,
                                   .scale = static_cast<float>(quant.scale[0])};
  lowering.emit({.family = find_kernel_family("dequantize_s8_f32"),
                 .params = params_bytes(params),
                 .operands = {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}},
                 .rows = walk.rows,
                 .row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}},
                 .rows_field = {offsetof(DequantizeParams, in), offsetof(DequantizeParams, out)}});
  return std::nullopt;
}

}  // namespace

const OpDef dequantize_op = {Dequantize::kName, [] { return Op(Dequantize{}); }, infer, evaluate, lower};

const HostKernel dequantize_s8_f32_host = {
    .contract = &dequantize_s8_f32_contract, .run = dequantize_s8_f32_scalar, .packing = {}, .stack_bytes = 192};

}  // namespace rush
