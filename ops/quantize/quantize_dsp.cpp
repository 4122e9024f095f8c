// SPDX-License-Identifier: Apache-2.0
//
// For cores with an FPU: adding 1.5 * 2^23 rounds to the nearest integer, ties to even, and leaves it in the low
// bits. Larger floats have larger bits, taken as signed integers, so clamping those bits is clamping the code.
#include "quantize.h"

namespace rush {
namespace {

enum : int32_t { kMagicBits = 0x4b400000 };  // 12582912.0f = 1.5 * 2^23

inline int32_t rounding_bits(float x) {
  const float sum = x + 12582912.0f;
  int32_t bits;
  __builtin_memcpy(&bits, &sum, 4);
  const bool is_nan = (static_cast<uint32_t>(bits) << 1) > 0xff000000u;
  return is_nan ? static_cast<int32_t>(kMagicBits) : bits;
}

}  // namespace

void quantize_f32_s8_dsp(const void* params, void* const* operands, Band band) {
  const QuantizeParams& p = *static_cast<const QuantizeParams*>(params);
  const int32_t bias = kMagicBits - p.zero_point, min = bias + p.min, max = bias + p.max;
  const float inverse_scale = p.inverse_scale;
  quantize_rows(p, operands, band, [=, &p](int8_t* out, const float* in) {
    for (uint32_t i = 0; i < p.row_elements; ++i)
      out[i] = static_cast<int8_t>(clamp_to(rounding_bits(in[i] * inverse_scale), min, max) - bias);
  });
}

}  // namespace rush
