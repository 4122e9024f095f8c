// SPDX-License-Identifier: Apache-2.0
//
// Dot products of the portable variants, eight or four outputs at a time, in as few instructions as a core with one
// plain multiply needs. A weight is stored as u = w + 128, one byte of each output in a word V0 = u0 + 256 u1 + 2^16 u2
// + 2^24 u3. Instead of taking the bytes apart, x is multiplied with V0, V1 = V0 >> 8, V2 = V0 >> 16, V3 = V0 >> 24:
// one shift an output. Since ui = Vi - 256 V(i+1), modulo 2^32
//   sum of x ui = sum of x Vi - 256 * sum of x V(i+1),   sum of x wi = sum of x ui - 128 * sum of x,
// the last of which is one number for all outputs of a window.
#ifndef RUSHLIGHT_OPS_CONV2D_EIGHT_SCALAR_H
#define RUSHLIGHT_OPS_CONV2D_EIGHT_SCALAR_H

#include "conv2d_codes_scalar.h"

namespace rush {

inline uint32_t wrapping(int32_t value) { return static_cast<uint32_t>(value); }

/// An aligned little-endian word.
inline uint32_t word_at(const uint8_t* bytes) {
  uint32_t word;
  __builtin_memcpy(&word, __builtin_assume_aligned(bytes, 4), 4);
  return word;
}

/// sums[j] += sum over n inputs of x * u[j], j < 4; `step` bytes lie between the words of two inputs.
inline void dot_four(const int8_t* x, const uint8_t* u, uint32_t n, uint32_t step, int32_t* sums) {
  uint32_t a = 0, b = 0, c = 0, d = 0;
  RUSH_ROLLED for (const int8_t* const end = x + n; x != end; ++x, u += step) {
    const uint32_t v = wrapping(*x), word = word_at(u);
    a += v * word;
    b += v * (word >> 8);
    c += v * (word >> 16);
    d += v * (word >> 24);
  }
  sums[0] = static_cast<int32_t>(wrapping(sums[0]) + a - (b << 8));
  sums[1] = static_cast<int32_t>(wrapping(sums[1]) + b - (c << 8));
  sums[2] = static_cast<int32_t>(wrapping(sums[2]) + c - (d << 8));
  sums[3] = static_cast<int32_t>(wrapping(sums[3]) + d);
}

#if defined(__arm__)
/// The same for eight outputs.
inline void dot_eight(const int8_t* x, const uint8_t* u, uint32_t n, int32_t* sums) {
  dot_four(x, u, n, 8, sums);
  dot_four(x, u + 4, n, 8, sums + 4);
}
#else
/// The same for eight outputs, as compilers for hosts make vectors of it: a product has 16 bits.
inline void dot_eight(const int8_t* __restrict x, const uint8_t* __restrict u, uint32_t n, int32_t* __restrict sums) {
  uint32_t acc[8] = {};
  for (uint32_t i = 0; i < n; ++i, u += 8) {
    for (uint32_t j = 0; j < 8; ++j) acc[j] += wrapping(static_cast<int16_t>(x[i] * u[j]));
  }
  for (uint32_t j = 0; j < 8; ++j) sums[j] = static_cast<int32_t>(wrapping(sums[j]) + acc[j]);
}
#endif

}  // namespace rush
#endif
