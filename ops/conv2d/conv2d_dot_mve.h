// SPDX-License-Identifier: Apache-2.0
//
// Dot products by VMLADAVA, sixteen multiply-accumulates an instruction. Weights of a block of outputs come in chunks
// of sixteen inputs, chunk by chunk, output by output; the last chunk of a segment is as long as the segment's rest.
//
// The main loops are not predicated: both compilers make low-overhead loops of them, while GCC 12 moves the predicate
// of each turn through a core register. Lanes loaded as zero need no predicate on the multiply-accumulate.
#ifndef RUSHLIGHT_OPS_CONV2D_DOT_MVE_H
#define RUSHLIGHT_OPS_CONV2D_DOT_MVE_H

#include <arm_mve.h>

#include "conv2d_rolled.h"

namespace rush {

/// One segment of one pixel for one output; the weights are in canonical order.
inline __attribute__((noinline)) int32_t dot_one_by_one(const int8_t* x, const int8_t* w, uint32_t n, int32_t acc) {
  RUSH_ROLLED for (uint32_t i = n >> 4; i != 0; --i) {
    acc = vmladavaq_s8(acc, vldrbq_s8(x), vldrbq_s8(w));
    x += 16;
    w += 16;
  }
  const mve_pred16_t live = vctp8q(n & 15u);
  return vmladavaq_s8(acc, vldrbq_z_s8(x, live), vldrbq_z_s8(w, live));
}

/// Sums of two pixels times two outputs. VMLADAVA wants even registers: there are no more than these four and the
/// pointers' share.
struct DotTile {
  int32_t* first;  ///< the first pixel's two sums
  int32_t* second;
};

/// Adds one segment of two pixels for two outputs; returns the weights' end. Four loads and four multiply-accumulates
/// a turn keep both units busy.
inline const int8_t* dot_two_by_two(const int8_t* x0, const int8_t* x1, const int8_t* w, uint32_t n,
                                    const DotTile& tile) {
  int32_t a = tile.first[0], b = tile.first[1], c = tile.second[0], d = tile.second[1];
  RUSH_ROLLED for (uint32_t i = n >> 4; i != 0; --i) {
    const int8x16_t p = vldrbq_s8(x0), q = vldrbq_s8(x1), u = vldrbq_s8(w), v = vldrbq_s8(w + 16);
    a = vmladavaq_s8(a, p, u);
    b = vmladavaq_s8(b, p, v);
    c = vmladavaq_s8(c, q, u);
    d = vmladavaq_s8(d, q, v);
    x0 += 16;
    x1 += 16;
    w += 32;
  }
  const uint32_t rest = n & 15u;
  if (rest != 0) {
    const mve_pred16_t live = vctp8q(rest);
    const int8x16_t p = vldrbq_z_s8(x0, live), q = vldrbq_z_s8(x1, live);
    const int8x16_t u = vldrbq_z_s8(w, live), v = vldrbq_z_s8(w + rest, live);
    a = vmladavaq_s8(a, p, u);
    b = vmladavaq_s8(b, p, v);
    c = vmladavaq_s8(c, q, u);
    d = vmladavaq_s8(d, q, v);
    w += 2 * rest;
  }
  tile.first[0] = a;
  tile.first[1] = b;
  tile.second[0] = c;
  tile.second[1] = d;
  return w;
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
