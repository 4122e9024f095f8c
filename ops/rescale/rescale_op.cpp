// SPDX-License-Identifier: Apache-2.0
//
// Rescale on the host: types, reference, lowering.
#include "ops/rescale/rescale_op.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "ops/choose_kernel.h"
#include "ops/conv2d/conv2d_lowering.h"
#include "ops/conv2d/conv2d_packing.h"
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

/// A channel of a convolution of one weight.
struct OneWeight {
  int8_t weight;
  FoldedChannel channel;
};

/// The code that it gives for a code.
int32_t code_of(const OneWeight& w, const OutputCodes& codes, int32_t code) {
  const auto& [multiplier, shift] = w.channel.multiplier;
  const int32_t steps = requantize_any(w.channel.bias + w.weight * code, multiplier, shift);
  return std::clamp<int32_t>(steps + codes.zero_point, codes.min, codes.max);
}

bool gives(const OneWeight& w, const OutputCodes& codes, const CodeTable& table) {
  for (int code = -128; code <= 127; ++code) {
    if (code_of(w, codes, code) != static_cast<int8_t>(table[static_cast<uint8_t>(code)])) return false;
  }
  return true;
}

/// A convolution of one weight that gives the table's codes, if one near to the ratio of the scales does. It rounds
/// once, the table in float32: all codes are tried, with biases within half a step.
std::optional<OneWeight> as_one_weight(const NodeTypes& types, const OutputCodes& codes, const CodeTable& table) {
  constexpr int8_t kWeight = 127;
  const Quant &in = *types.input(0).quant, &out = *types.output().quant;
  const double scale = in.scale[0] / out.scale[0] / kWeight;
  const auto multiplier = scale > 0 && std::isfinite(scale) ? quantize_multiplier(scale) : std::nullopt;
  if (!multiplier || multiplier->shift < 1) return std::nullopt;  // tiles shift nothing left
  for (int32_t nudge = 0; nudge <= kWeight; ++nudge) {
    const int32_t off = nudge % 2 == 0 ? nudge / 2 : -(nudge + 1) / 2;
    const auto bias = static_cast<int32_t>(-kWeight * in.zero_point[0]) + off;
    const OneWeight w{kWeight, {bias, with_shift(*multiplier), 0}};
    if (gives(w, codes, table)) return w;
  }
  return std::nullopt;
}

/// Where the kernel of Helium's convolutions is linked anyway, a table and the code that looks it up can be saved.
std::optional<ProgramStep> convolution_step(const NodeTypes& types, const CodeTable& table, Lowering& lowering) {
  constexpr uint32_t kMostPositions = 1 << 14;
  const Rescale& rescale = *types.node.as<Rescale>();
  const ElementwiseRows walk = elementwise_rows(types.input(0).shape);
  const KernelFamily& family = *find_kernel_family("conv2d_tiles_s8");
  if (lowering.opt() != Opt::kSize || !is_linked(lowering, family) || walk.row_elements >= kMostPositions)
    return std::nullopt;
  const OutputCodes codes = output_codes(types.output(), {}, rescale.min, rescale.max);
  const auto w = as_one_weight(types, codes, table);
  if (!w) return std::nullopt;
  Conv2dParams params = pointwise_params({walk.rows, static_cast<uint16_t>(walk.row_elements), 1, 1});
  params.codes = codes;
  Extents extents{};
  internal_check(family.host->contract->extents(&params, &extents), "rescale: parameters that extents() refuses");
  std::vector<uint8_t> channels;
  append_channel_blocks({{w->channel}, {}}, {0, 1, 1}, channels);
  const uint8_t weight = static_cast<uint8_t>(w->weight);
  const std::string& name = types.node.name;
  return ProgramStep{.family = &family,
                     .params = params_bytes(params),
                     .operands = {{lowering.buffer(types.node.inputs[0])},
                                  {lowering.buffer(types.node.out())},
                                  {lowering.packed(name + ".weight", family, &params, {&weight, 1})},
                                  {lowering.constant(name + ".channels", channels, 4)},
                                  {lowering.scratch(name + ".scratch", extents.bytes[4], 4)}},
                     .rows = walk.rows,
                     .row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}},
                     .rows_field = {offsetof(ConvGeometry, in), offsetof(ConvGeometry, out)},
                     .positions = Positions{walk.row_elements, 1, 1}};
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (!is_quantized_int8(types.input(0)) || !is_quantized_int8(types.output()))
    return "rescaling " + to_string(types.input(0)) + " to " + to_string(types.output()) + " has no kernel";
  const CodeTable table = table_of(types);
  auto step = convolution_step(types, table, lowering);
  lowering.emit(step ? *step : look_up_step(types, 0, table, {lowering.buffer(types.node.out())}, lowering));
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
