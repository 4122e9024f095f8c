// SPDX-License-Identifier: Apache-2.0
//
// From real numbers to codes, and from scales to multipliers: shared by the references and by lowering, so that
// the quantized stage and the program cannot disagree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "compiler/ir/tensor.h"
#include "ops/program.h"
#include "rushlight/arithmetic.h"

namespace rush {

/// PyTorch's quantize of one value: clamp(round_half_even(float(x) * float(1/scale)) + zero_point).
int32_t quantize_code(double real, const Quant& quant, size_t channel = 0);

/// quantize_code of many float32 values, to int8.
void quantize_codes(const float* reals, int64_t count, const Quant& per_tensor, int8_t* codes);

/// PyTorch's dequantize of one code, in float32.
float dequantize_code(int64_t code, const Quant& quant, size_t channel = 0);

/// dequantize_code of many int8 codes.
void dequantize_codes(const int8_t* codes, int64_t count, const Quant& per_tensor, float* reals);

/// Which of a quant's scales belongs to row-major element i of a tensor.
size_t channel_of(const Quant& quant, const Shape& shape, int64_t i);

/// Codes that a real clamp [min, max] leaves of a quantized output.
Range code_range(const Quant& quant, double min, double max);

/// A tensor of int8 codes with per-tensor quantization.
bool is_quantized_int8(const TensorType& type);

/// Both sides int8 with the same scale, zero point and range.
bool same_quant(const TensorType& a, const TensorType& b);

/// How an elementwise operator walks a tensor: a map [1,H,W,C] row by row (so that it can run in bands), anything
/// else as one row.
struct ElementwiseRows {
  uint16_t rows;
  uint32_t row_elements;
};
ElementwiseRows elementwise_rows(const Shape& shape);

}  // namespace rush
