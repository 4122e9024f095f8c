// SPDX-License-Identifier: Apache-2.0
//
// Dot products of one segment with the weights of four outputs, or of one: each input is loaded once for the block.
// Weights of a block are interleaved: w[i * outputs + j]. Sums wrap.
#ifndef RUSHLIGHT_OPS_CONV2D_DOT_SCALAR_H
#define RUSHLIGHT_OPS_CONV2D_DOT_SCALAR_H

#include <stdint.h>

#include "conv2d_rolled.h"

namespace rush {

inline uint32_t wrapping(int32_t value) { return static_cast<uint32_t>(value); }

/// acc[j] += sum_i x[i] * w[4 i + j]; returns the weights' end.
inline const int8_t* dot_four(const int8_t* x, const int8_t* w, uint32_t n, int32_t* acc) {
  uint32_t a = wrapping(acc[0]), b = wrapping(acc[1]), c = wrapping(acc[2]), d = wrapping(acc[3]);
  RUSH_ROLLED for (const int8_t* const end = x + n; x != end; ++x) {
    const int32_t v = *x;
    a += wrapping(v * w[0]);
    b += wrapping(v * w[1]);
    c += wrapping(v * w[2]);
    d += wrapping(v * w[3]);
    w += 4;
  }
  acc[0] = static_cast<int32_t>(a);
  acc[1] = static_cast<int32_t>(b);
  acc[2] = static_cast<int32_t>(c);
  acc[3] = static_cast<int32_t>(d);
  return w;
}

/// acc[0] += sum_i x[i] * w[i]; returns the weights' end.
inline const int8_t* dot_one(const int8_t* x, const int8_t* w, uint32_t n, int32_t* acc) {
  uint32_t a = wrapping(acc[0]);
  RUSH_ROLLED for (uint32_t i = 0; i != n; ++i) a += wrapping(x[i] * w[i]);
  acc[0] = static_cast<int32_t>(a);
  return w + n;
}

}  // namespace rush
#endif
