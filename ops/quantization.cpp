// SPDX-License-Identifier: Apache-2.0
#include "ops/quantization.h"

#include <algorithm>
#include <cmath>

namespace rush {

int32_t quantize_code(double real, const Quant& quant, size_t channel) {
  const auto inverse = static_cast<float>(1.0 / quant.scale.at(channel));
  // A float product of any finite value fits a double; infinities clamp below.
  const double code =
      std::nearbyint(static_cast<float>(real) * inverse) + static_cast<double>(quant.zero_point.at(channel));
  if (std::isnan(code))
    return static_cast<int32_t>(std::clamp<int64_t>(quant.zero_point.at(channel), quant.min, quant.max));
  return static_cast<int32_t>(std::clamp(code, static_cast<double>(quant.min), static_cast<double>(quant.max)));
}

void quantize_codes(const float* reals, int64_t count, const Quant& quant, int8_t* codes) {
  const auto inverse = static_cast<float>(1.0 / quant.scale.at(0));
  const auto zero_point = static_cast<int32_t>(quant.zero_point.at(0));
  const auto min = static_cast<float>(quant.min - zero_point), max = static_cast<float>(quant.max - zero_point);
  // Adding and taking off 1.5 * 2^23 rounds half to even what is far below it. The ends are whole numbers, so clamping
  // first is the same; NaN becomes 0.
  constexpr float kRound = 12582912.0f;
  const float at_nan = std::clamp(0.0f, min, max);
  for (int64_t i = 0; i < count; ++i) {
    const float scaled = reals[i] * inverse;
    const float clamped = scaled != scaled ? at_nan : scaled < min ? min : scaled > max ? max : scaled;
    codes[i] = static_cast<int8_t>(static_cast<int32_t>((clamped + kRound) - kRound) + zero_point);
  }
}

float dequantize_code(int64_t code, const Quant& quant, size_t channel) {
  return static_cast<float>(code - quant.zero_point.at(channel)) * static_cast<float>(quant.scale.at(channel));
}

void dequantize_codes(const int8_t* codes, int64_t count, const Quant& quant, float* reals) {
  const auto scale = static_cast<float>(quant.scale.at(0));
  const auto zero_point = static_cast<int32_t>(quant.zero_point.at(0));
  for (int64_t i = 0; i < count; ++i) reals[i] = static_cast<float>(codes[i] - zero_point) * scale;
}

size_t channel_of(const Quant& quant, const Shape& shape, int64_t i) {
  if (quant.per_tensor()) return 0;
  const auto axis = static_cast<size_t>(quant.axis);
  return static_cast<size_t>(i / strides_of(shape)[axis] % shape[axis]);
}

Range code_range(const Quant& quant, double min, double max) {
  const auto low = static_cast<int32_t>(quant.min), high = static_cast<int32_t>(quant.max);
  return {std::isinf(min) ? low : quantize_code(min, quant), std::isinf(max) ? high : quantize_code(max, quant)};
}

bool is_quantized_int8(const TensorType& type) {
  return type.dtype == DType::kInt8 && type.quant && type.quant->per_tensor();
}

bool same_quant(const TensorType& a, const TensorType& b) {
  return is_quantized_int8(a) && is_quantized_int8(b) && a.quant == b.quant;
}

ElementwiseRows elementwise_rows(const Shape& shape) {
  const int64_t count = element_count(shape);
  const bool map = shape.size() == 4 && shape[0] == 1 && shape[1] > 0 && shape[1] < (1 << 15);
  const int64_t rows = map ? shape[1] : 1;
  return {static_cast<uint16_t>(rows), static_cast<uint32_t>(count / rows)};
}

}  // namespace rush
