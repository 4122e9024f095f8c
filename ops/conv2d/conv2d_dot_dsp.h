// SPDX-License-Identifier: Apache-2.0
//
// Dot products by SMLAD, two multiply-accumulates an instruction: four bytes of input and of weights become two pairs
// of halfwords each. Weights of a block of outputs come in chunks of four inputs, chunk by chunk, output by output; the
// last chunk of a segment is as long as the segment's rest.
#ifndef RUSHLIGHT_OPS_CONV2D_DOT_DSP_H
#define RUSHLIGHT_OPS_CONV2D_DOT_DSP_H

#include <arm_acle.h>

#include "conv2d_rolled.h"

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

inline BytePairs load_pairs(const int8_t* bytes) {
  uint32_t word;
  __builtin_memcpy(&word, bytes, 4);
  return {__sxtb16(static_cast<int8x4_t>(word)), odd_bytes(word)};
}

inline int32_t multiply_accumulate(int32_t acc, const BytePairs& a, const BytePairs& b) {
  return __smlad(a.odd, b.odd, __smlad(a.even, b.even, acc));
}

/// One segment of one pixel for one output; the weights are in canonical order.
inline __attribute__((noinline)) int32_t dot_one_by_one(const int8_t* x, const int8_t* w, uint32_t n, int32_t acc) {
  RUSH_ROLLED for (const int8_t* const end = x + (n & ~3u); x != end; x += 4, w += 4) {
    acc = multiply_accumulate(acc, load_pairs(x), load_pairs(w));
  }
  RUSH_ROLLED for (uint32_t i = 0; i < (n & 3u); ++i) acc = __smlabb(x[i], w[i], acc);
  return acc;
}

/// Sums of two pixels times two outputs.
struct DotTile {
  int32_t* first;  ///< the first pixel's two sums
  int32_t* second;
};

/// Adds one segment of two pixels for two outputs; returns the weights' end.
inline const int8_t* dot_two_by_two(const int8_t* x0, const int8_t* x1, const int8_t* w, uint32_t n,
                                    const DotTile& tile) {
  int32_t a = tile.first[0], b = tile.first[1], c = tile.second[0], d = tile.second[1];
  RUSH_ROLLED for (const int8_t* const end = x0 + (n & ~3u); x0 != end; x0 += 4, x1 += 4, w += 8) {
    const BytePairs p = load_pairs(x0), q = load_pairs(x1), u = load_pairs(w);
    a = multiply_accumulate(a, p, u);
    c = multiply_accumulate(c, q, u);
    const BytePairs v = load_pairs(w + 4);
    b = multiply_accumulate(b, p, v);
    d = multiply_accumulate(d, q, v);
  }
  const uint32_t rest = n & 3u;
  RUSH_ROLLED for (uint32_t i = 0; i < rest; ++i) {
    a = __smlabb(x0[i], w[i], a);
    b = __smlabb(x0[i], w[rest + i], b);
    c = __smlabb(x1[i], w[i], c);
    d = __smlabb(x1[i], w[rest + i], d);
  }
  tile.first[0] = a;
  tile.first[1] = b;
  tile.second[0] = c;
  tile.second[1] = d;
  return w + 2 * rest;
}

/// Adds one segment of two pixels for one output, whose weights are in canonical order; returns their end.
inline const int8_t* dot_two_by_one(const int8_t* x0, const int8_t* x1, const int8_t* w, uint32_t n,
                                    const DotTile& tile) {
  tile.first[0] = dot_one_by_one(x0, w, n, tile.first[0]);
  tile.second[0] = dot_one_by_one(x1, w, n, tile.second[0]);
  return w + n;
}

}  // namespace rush
#endif
