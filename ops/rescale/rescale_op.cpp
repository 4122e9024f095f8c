// SPDX-License-Identifier: Apache-2.0
//
// Rescale on the host: types, reference, lowering.
#include "ops/rescale/rescale_op.h"

#include <algorithm>
#include <cstddef>

#include "ops/op_def.h"
#include "ops/quantization.h"
#include "ops/rescale/rescale.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) { return {{types.input(0).dtype, types.input(0).shape, {}}}; }

/// PyTorch's dequantize, clamp and quantize of one code, all in float32.
int8_t rescaled(int64_t code, const NodeTypes& types) {
  const Rescale& rescale = *types.node.as<Rescale>();
  const double real = dequantize_code(code, *types.input(0).quant);
  return static_cast<int8_t>(quantize_code(std::clamp(real, rescale.min, rescale.max), *types.output().quant));
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  HostTensor out(DType::kInt8, types.output().shape);
  for (int64_t i = 0; i < out.size(); ++i) out.as<int8_t>()[i] = rescaled(inputs[0]->as<int8_t>()[i], types);
  return {out};
}

/// The codes' values by their bits.
BufferId table_of(const NodeTypes& types, Lowering& lowering) {
  std::vector<uint8_t> table;
  for (int bits = 0; bits < 256; ++bits)
    table.push_back(static_cast<uint8_t>(rescaled(static_cast<int8_t>(bits), types)));
  return lowering.constant(types.node.name + ".table", std::move(table), 1);
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (!is_quantized_int8(types.input(0)) || !is_quantized_int8(types.output()))
    return "rescaling " + to_string(types.input(0)) + " to " + to_string(types.output()) + " has no kernel";
  const ElementwiseRows walk = elementwise_rows(types.input(0).shape);
  const Rows rows = whole_map(walk.row_elements, walk.rows);
  lowering.emit({.family = find_kernel_family("rescale_s8"),
                 .params = params_bytes(RescaleParams{rows, rows, walk.rows, 0, walk.row_elements}),
                 .operands = {{lowering.buffer(types.node.inputs[0])},
                              {table_of(types, lowering)},
                              {lowering.buffer(types.node.out())}},
                 .rows = walk.rows,
                 .in_place = {{0, 2}},
                 .row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}},
                 .rows_field = {offsetof(RescaleParams, in), -1, offsetof(RescaleParams, out)}});
  return std::nullopt;
}

}  // namespace

const OpDef rescale_op = {
    Rescale::kName, [] { return Op(Rescale{}); }, infer, evaluate, lower, QuantRule::kFloat, true};

const HostKernel rescale_s8_host = {
    .contract = &rescale_s8_contract, .run = rescale_s8_scalar, .packing = {}, .stack_bytes = 112};

}  // namespace rush
