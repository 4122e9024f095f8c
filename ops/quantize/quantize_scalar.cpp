// SPDX-License-Identifier: Apache-2.0
//
// Rounds from the float's bits: these cores have no FPU, so that the product is the only call of a float routine.
#include "quantize.h"

namespace rush {
namespace {

/// The nearest integer, ties to even; at most 2^16 in size, 0 for NaN.
inline int32_t round_half_even(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, 4);
  const uint32_t exponent = (bits >> 23) & 0xffu;
  const bool negative = (bits >> 31) != 0;
  if (exponent < 126) return 0;  // below one half
  if (exponent >= 127 + 16) {
    if ((bits << 1) > 0xff000000u) return 0;
    return negative ? -65536 : 65536;
  }
  const uint32_t mantissa = (bits & 0x7fffffu) | 0x800000u;
  const uint32_t shift = 150 - exponent;  // 8 to 24
  const uint32_t half = uint32_t(1) << (shift - 1);
  const int32_t size = static_cast<int32_t>((mantissa + half - 1 + ((mantissa >> shift) & 1u)) >> shift);
  return negative ? -size : size;
}

}  // namespace

void quantize_f32_s8_scalar(const void* params, void* const* operands, Band band) {
  const QuantizeParams& p = *static_cast<const QuantizeParams*>(params);
  quantize_rows(p, operands, band, [&p](int8_t* out, const float* in) {
    for (uint32_t i = 0; i < p.row_elements; ++i)
      out[i] = static_cast<int8_t>(clamp_to(round_half_even(in[i] * p.inverse_scale) + p.zero_point, p.min, p.max));
  });
}

}  // namespace rush
