// SPDX-License-Identifier: Apache-2.0
//
// Products by SMLAD, two multiply-accumulates an instruction: four bytes of input and of weights become two pairs of
// halfwords each.
#ifndef RUSHLIGHT_OPS_CONV2D_DOT_DSP_H
#define RUSHLIGHT_OPS_CONV2D_DOT_DSP_H

#include <arm_acle.h>

#include "conv2d_channels.h"

namespace rush {

/// Bytes 0 and 2, bytes 1 and 3 of a word, sign-extended.
struct BytePairs {
  int16x2_t even;
  int16x2_t odd;
};

#if defined(__GNUC__)
// GCC has no intrinsic for the rotation, and does not fold one into SXTB16.
inline int16x2_t odd_bytes(uint32_t word) {
  int16x2_t pair;
  __asm("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(word));
  return pair;
}
#else
inline int16x2_t odd_bytes(uint32_t word) { return __sxtb16(static_cast<int8x4_t>(word << 24 | word >> 8)); }
#endif

inline uint32_t load_word(const int8_t* bytes) {
  uint32_t word;
  __builtin_memcpy(&word, bytes, 4);
  return word;
}

inline BytePairs load_pairs(const int8_t* bytes) {
  const uint32_t word = load_word(bytes);
  return {__sxtb16(static_cast<int8x4_t>(word)), odd_bytes(word)};
}

inline int32_t multiply_accumulate(int32_t acc, const BytePairs& a, const BytePairs& b) {
  return __smlad(a.odd, b.odd, __smlad(a.even, b.even, acc));
}

/// A code from -128 to 127 of an accumulator that is not shifted left; `rounding` is twice the zero point plus 1.
inline int8_t plain_code(int32_t acc, int32_t scale, int32_t rounding) {
  const int32_t scaled = multiply_high(acc, scale) >> (~scale & 31);
  return static_cast<int8_t>(__ssat((scaled + rounding) >> 1, 8));
}

/// The code of any accumulator. Not inlined: one copy serves all kernels.
inline __attribute__((noinline)) int8_t any_code(int32_t acc, int32_t scale, const OutputCodes& codes) {
  int32_t shift = shift_of(scale);
  // As saturating_shift_left(), in a fraction of its code; sensible scales shift by a few bits.
  RUSH_ROLLED for (; shift < 1; ++shift) acc = __qadd(acc, acc);
  return static_cast<int8_t>(clamp_to(requantize(acc, scale, shift) + codes.zero_point, codes.min, codes.max));
}

/// One segment of one pixel for one output; the weights are in canonical order.
inline __attribute__((noinline)) int32_t dot_one_by_one(const int8_t* x, const int8_t* w, uint32_t n, int32_t acc) {
  RUSH_ROLLED for (const int8_t* const end = x + (n & ~3u); x != end; x += 4, w += 4) {
    acc = multiply_accumulate(acc, load_pairs(x), load_pairs(w));
  }
  RUSH_ROLLED for (uint32_t i = 0; i < (n & 3u); ++i) acc = __smlabb(x[i], w[i], acc);
  return acc;
}

}  // namespace rush
#endif
