// SPDX-License-Identifier: Apache-2.0
//
// Dot products of one segment with the weights of four outputs, or of one: each input is loaded once for the block.
// Weights of a block are interleaved: w[i * outputs + j].
#ifndef RUSHLIGHT_OPS_CONV2D_DOT_SCALAR_H
#define RUSHLIGHT_OPS_CONV2D_DOT_SCALAR_H

#include <stdint.h>

#include "conv2d_rolled.h"

namespace rush {

/// acc[j] += sum_i x[i] * w[4 i + j]; returns the weights' end.
inline const int8_t* dot_four(const int8_t* x, const int8_t* w, uint32_t n, int32_t* acc) {
  int32_t a = acc[0], b = acc[1], c = acc[2], d = acc[3];
  RUSH_ROLLED for (const int8_t* const end = x + n; x != end; ++x) {
    const int32_t v = *x;
    a += v * w[0];
    b += v * w[1];
    c += v * w[2];
    d += v * w[3];
    w += 4;
  }
  acc[0] = a;
  acc[1] = b;
  acc[2] = c;
  acc[3] = d;
  return w;
}

/// acc[0] += sum_i x[i] * w[i]; returns the weights' end.
inline const int8_t* dot_one(const int8_t* x, const int8_t* w, uint32_t n, int32_t* acc) {
  int32_t a = acc[0];
  RUSH_ROLLED for (uint32_t i = 0; i != n; ++i) a += x[i] * w[i];
  acc[0] = a;
  return w + n;
}

}  // namespace rush
#endif
