// SPDX-License-Identifier: Apache-2.0
//
// Sums over taps of four channels at a time: SXTAB16 adds two bytes to two halves. A half holds 256 codes.
#ifndef RUSHLIGHT_OPS_AVERAGE_DSP_H
#define RUSHLIGHT_OPS_AVERAGE_DSP_H

#include <arm_acle.h>

#include "average.h"

namespace rush {

struct FourSums {
  int32_t channel[4];
};

/// Four channels' sums, two a register: 0 and 2 in even, 1 and 3 in odd.
struct PairedSums {
  int16x2_t even;
  int16x2_t odd;
};

inline void add_pairs(int32_t* channel, const PairedSums& pairs) {
  channel[0] += static_cast<int16_t>(pairs.even);
  channel[1] += static_cast<int16_t>(pairs.odd);
  channel[2] += static_cast<int32_t>(pairs.even) >> 16;
  channel[3] += static_cast<int32_t>(pairs.odd) >> 16;
}

/// At most 256 taps.
inline PairedSums sum_pairs(const int8_t* tap, int32_t count, int32_t step) {
  PairedSums pairs = {0, 0};
  if (count <= 0) return pairs;
#pragma GCC unroll 1
  do {
    uint32_t four;
    __builtin_memcpy(&four, tap, 4);
    pairs.even = __sxtab16(pairs.even, static_cast<int8x4_t>(four));
    pairs.odd = __sxtab16(pairs.odd, static_cast<int8x4_t>(four >> 8 | four << 24));
    tap += step;
  } while (--count != 0);
  return pairs;
}

template <class RowAt>
inline FourSums sum_taps4(const TapGrid& grid, RowAt row_at) {
  FourSums sums = {{0, 0, 0, 0}};
#pragma GCC unroll 1
  for (int32_t r = 0; r < grid.rows; ++r) {
    const int8_t* tap = row_at(r);
#pragma GCC unroll 1
    for (int32_t done = 0; done < grid.columns; done += 256) {
      const int32_t left = grid.columns - done;
      add_pairs(sums.channel, sum_pairs(tap, left < 256 ? left : 256, grid.step));
      tap += 256 * grid.step;
    }
  }
  return sums;
}

}  // namespace rush
#endif
