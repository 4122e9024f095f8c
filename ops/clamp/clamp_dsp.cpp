// SPDX-License-Identifier: Apache-2.0
//
// Four codes a word: SSUB8 sets a GE flag per byte, SEL picks by it.
#include <arm_acle.h>

#include "clamp.h"

namespace rush {
namespace {

inline int8x4_t splat(int32_t value) {
  return static_cast<int8x4_t>((static_cast<uint32_t>(value) & 0xffu) * 0x01010101u);
}

inline int8x4_t larger(int8x4_t a, int8x4_t b) {
  (void)__ssub8(a, b);
  return static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(a), static_cast<uint8x4_t>(b)));
}

inline int8x4_t smaller(int8x4_t a, int8x4_t b) {
  (void)__ssub8(a, b);
  return static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(b), static_cast<uint8x4_t>(a)));
}

void clamp_row(const int8_t* in, int8_t* out, const ClampParams& p) {
  const int8x4_t min = splat(p.range.min), max = splat(p.range.max);
  uint32_t i = 0;
  for (; i + 4 <= p.row_elements; i += 4) {
    int8x4_t four;
    __builtin_memcpy(&four, in + i, 4);
    four = smaller(larger(four, min), max);
    __builtin_memcpy(out + i, &four, 4);
  }
  for (; i < p.row_elements; ++i) out[i] = static_cast<int8_t>(clamp_to(in[i], p.range.min, p.range.max));
}

}  // namespace

void clamp_s8_dsp(const void* params, void* const* operands, Band band) {
  const ClampParams& p = *static_cast<const ClampParams*>(params);
  for (int32_t y = band.begin; y < band.end; ++y) {
    clamp_row(static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)),
              static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y)), p);
  }
}

}  // namespace rush
