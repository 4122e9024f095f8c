// SPDX-License-Identifier: Apache-2.0
//
// Clamp on the host: types, reference, lowering.
#include "ops/clamp/clamp_op.h"

#include <algorithm>
#include <cstddef>

#include "ops/clamp/clamp.h"
#include "ops/op_def.h"
#include "ops/quantization.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) { return {types.input(0)}; }

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const Clamp& clamp = *types.node.as<Clamp>();
  HostTensor out = *inputs[0];
  if (const auto& quant = types.input(0).quant) {
    const Range range = code_range(*quant, clamp.min, clamp.max);
    for (int64_t i = 0; i < out.size(); ++i)
      out.as<int8_t>()[i] =
          std::clamp<int8_t>(out.as<int8_t>()[i], static_cast<int8_t>(range.min), static_cast<int8_t>(range.max));
    return {out};
  }
  for (int64_t i = 0; i < out.size(); ++i) {
    const float x = out.as<float>()[i];
    out.as<float>()[i] = x < clamp.min   ? static_cast<float>(clamp.min)
                         : x > clamp.max ? static_cast<float>(clamp.max)
                                         : x;
  }
  return {out};
}

template <class Params>
ProgramStep clamp_step(const NodeTypes& types, Lowering& lowering, const Params& params) {
  return {.params = params_bytes(params),
          .operands = {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}},
          .rows = params.rows,
          .in_place = {{0, 1}},
          .row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}},
          .rows_field = {offsetof(Params, in), offsetof(Params, out)}};
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const Clamp& clamp = *types.node.as<Clamp>();
  const ElementwiseRows walk = elementwise_rows(types.input(0).shape);
  if (same_quant(types.input(0), types.output())) {
    const Rows rows = whole_map(walk.row_elements, walk.rows);
    ProgramStep step = clamp_step(types, lowering,
                                  ClampParams{rows, rows, walk.rows, 0, walk.row_elements,
                                              code_range(*types.output().quant, clamp.min, clamp.max)});
    step.family = find_kernel_family("clamp_s8");
    lowering.emit(std::move(step));
    return std::nullopt;
  }
  if (types.input(0).dtype == DType::kFloat32) {
    const Rows rows = whole_map(walk.row_elements * 4, walk.rows);
    ProgramStep step = clamp_step(types, lowering,
                                  ClampF32Params{rows, rows, walk.rows, 0, walk.row_elements,
                                                 static_cast<float>(clamp.min), static_cast<float>(clamp.max)});
    step.family = find_kernel_family("clamp_f32");
    lowering.emit(std::move(step));
    return std::nullopt;
  }
  return "clamp of " + to_string(types.input(0)) + " has no kernel";
}

}  // namespace

const OpDef clamp_op = {Clamp::kName, [] { return Op(Clamp{}); }, infer, evaluate, lower, QuantRule::kMoved, true};

const HostKernel clamp_s8_host = {
    .contract = &clamp_s8_contract, .run = clamp_s8_scalar, .packing = {}, .stack_bytes = 96};
const HostKernel clamp_f32_host = {
    .contract = &clamp_f32_contract, .run = clamp_f32_scalar, .packing = {}, .stack_bytes = 192};

}  // namespace rush
