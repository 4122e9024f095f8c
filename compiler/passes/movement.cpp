// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/movement.h"

#include "ops/clamp/clamp_op.h"
#include "ops/op_def.h"
#include "ops/pad/pad_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantization.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

bool is_code(double real, const Quant& quant) {
  return dequantize_code(quantize_code(real, quant), quant) == static_cast<float>(real);
}

}  // namespace

bool is_movement(const Node& node) {
  const OpDef* op = find_op(node.op.name());
  return op != nullptr && op->quant == QuantRule::kMoved;
}

bool keeps_codes(const Node& node, const TensorType& codes) {
  if (node.is<Reshape>() || node.is<Permute>()) return true;
  if (!is_quantized_int8(codes)) return false;
  const Quant& quant = *codes.quant;
  if (const auto* pad = node.as<Pad>()) return is_code(pad->value, quant);
  const auto* clamp = node.as<Clamp>();
  if (!clamp) return true;
  const float low = dequantize_code(quant.min, quant), high = dequantize_code(quant.max, quant);
  return (clamp->min <= low || is_code(clamp->min, quant)) && (clamp->max >= high || is_code(clamp->max, quant));
}

}  // namespace rush
