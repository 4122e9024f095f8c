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

/// Codes of rounding_bits, counted from the bits of code 0.
struct Codes {
  int32_t zero;
  int32_t min;
  int32_t max;

  int8_t code_of(float x) const {
    int32_t code = rounding_bits(x) - zero;
    code = code > max ? max : code;
    code = code < min ? min : code;
    return static_cast<int8_t>(code);
  }
};

void quantize_row(int8_t* out, const float* in, const QuantizeParams& p) {
  const Codes codes = {kMagicBits - p.zero_point, p.min, p.max};
  const float inverse_scale = p.inverse_scale;
  uint32_t left = p.row_elements;
#pragma GCC unroll 1
  for (; left >= 2; left -= 2, in += 2, out += 2) {
    // Both products first: the FPU takes two cycles for a result. Out may begin where in does.
    const float first = in[0] * inverse_scale, second = in[1] * inverse_scale;
    out[0] = codes.code_of(first);
    out[1] = codes.code_of(second);
  }
  if (left != 0) *out = codes.code_of(*in * inverse_scale);
}

}  // namespace

void quantize_f32_s8_dsp(const void* params, void* const* operands, Band band) {
  const QuantizeParams& p = *static_cast<const QuantizeParams*>(params);
  quantize_rows(p, operands, band, [&p](int8_t* out, const float* in) { quantize_row(out, in, p); });
}

}  // namespace rush
