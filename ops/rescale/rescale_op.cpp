// SPDX-License-Identifier: Apache-2.0
//
// Rescale on the host: types, reference, lowering.
#include "ops/rescale/rescale_op.h"

#include <algorithm>
#include <cstddef>

#include "ops/op_def.h"
#include "ops/quantization.h"
#include "ops/rescale/code_table_op.h"
#include "ops/rescale/rescale.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) { return {{types.input(0).dtype, types.input(0).shape, {}}}; }

CodeTable table_of(const NodeTypes& types) {
  const Rescale& rescale = *types.node.as<Rescale>();
  return code_table(*types.input(0).quant, *types.output().quant,
                    [&](double real) { return std::clamp(real, rescale.min, rescale.max); });
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  return {look_up(*inputs[0], table_of(types))};
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (!is_quantized_int8(types.input(0)) || !is_quantized_int8(types.output()))
    return "rescaling " + to_string(types.input(0)) + " to " + to_string(types.output()) + " has no kernel";
  lowering.emit(look_up_step(types, 0, table_of(types), {lowering.buffer(types.node.out())}, lowering));
  return std::nullopt;
}

}  // namespace

CodeTable code_table(const Quant& in, const Quant& out, const std::function<double(double)>& function) {
  CodeTable table{};
  for (int bits = 0; bits < 256; ++bits) {
    const double real = dequantize_code(static_cast<int8_t>(bits), in);
    table[static_cast<size_t>(bits)] = static_cast<uint8_t>(quantize_code(function(real), out));
  }
  return table;
}

HostTensor look_up(HostTensor codes, const CodeTable& table) {
  for (size_t i = 0; i < codes.bytes(); ++i) codes.raw()[i] = table[codes.raw()[i]];
  return codes;
}

ProgramStep look_up_step(const NodeTypes& types, size_t i, const CodeTable& table, OperandRef to, Lowering& lowering) {
  const ElementwiseRows walk = elementwise_rows(types.input(i).shape);
  const Rows rows = whole_map(walk.row_elements, walk.rows);
  const BufferId codes = lowering.constant(types.node.name + ".table", {table.begin(), table.end()}, 1);
  return {.family = find_kernel_family("rescale_s8"),
          .params = params_bytes(RescaleParams{rows, rows, walk.rows, 0, walk.row_elements}),
          .operands = {{lowering.buffer(types.node.inputs[i])}, {codes}, to},
          .rows = walk.rows,
          .in_place = {{0, 2}},
          .row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}},
          .rows_field = {offsetof(RescaleParams, in), -1, offsetof(RescaleParams, out)}};
}

const OpDef rescale_op = {
    Rescale::kName, [] { return Op(Rescale{}); }, infer, evaluate, lower, QuantRule::kFloat, true};

const HostKernel rescale_s8_host = {
    .contract = &rescale_s8_contract, .run = rescale_s8_scalar, .packing = {}, .stack_bytes = 112};

}  // namespace rush
