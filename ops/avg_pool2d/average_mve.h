// SPDX-License-Identifier: Apache-2.0
//
// Sums over taps of eight channels at a time in 16-bit lanes, which hold 256 codes; the mean in 32-bit lanes.
#ifndef RUSHLIGHT_OPS_AVERAGE_MVE_H
#define RUSHLIGHT_OPS_AVERAGE_MVE_H

#include <arm_mve.h>

#include "average.h"

namespace rush {

/// Sums of eight channels: the even lanes, the odd lanes.
struct EightSums {
  int32x4_t even;
  int32x4_t odd;
};

/// At most 256 taps.
inline int16x8_t sum_lanes(const int8_t* tap, int32_t count, int32_t step, mve_pred16_t live) {
  int16x8_t sums = vdupq_n_s16(0);
  for (; count > 0; --count) {
    sums = vaddq_s16(sums, vldrbq_z_s16(tap, live));
    tap += step;
  }
  return sums;
}

/// Lanes beyond `live` (a 16-bit lane predicate) are not read.
template <class RowAt>
inline EightSums sum_taps8(const TapGrid& grid, RowAt row_at, mve_pred16_t live) {
  EightSums sums = {vdupq_n_s32(0), vdupq_n_s32(0)};
  for (int32_t r = 0; r < grid.rows; ++r) {
    const int8_t* tap = row_at(r);
    for (int32_t done = 0; done < grid.columns; done += 256) {
      const int32_t left = grid.columns - done;
      const int16x8_t narrow = sum_lanes(tap, left < 256 ? left : 256, grid.step, live);
      sums.even = vaddq_s32(sums.even, vmovlbq_s16(narrow));
      sums.odd = vaddq_s32(sums.odd, vmovltq_s16(narrow));
      tap += 256 * grid.step;
    }
  }
  return sums;
}

inline int32x4_t means_of(int32x4_t sum, const AverageScale& s) {
  const int32x4_t shifted = vshlq_r_s32(vaddq_n_s32(sum, s.bias), s.left);
  return vshlq_r_s32(vaddq_n_s32(vmulhq_s32(shifted, vdupq_n_s32(s.multiplier)), s.round), -s.shift);
}

inline int32x4_t codes_of(int32x4_t sum, const AverageScale& s, int32_t offset, Range range) {
  const int32x4_t codes = vaddq_n_s32(means_of(sum, s), offset);
  return vminq_s32(vmaxq_s32(codes, vdupq_n_s32(range.min)), vdupq_n_s32(range.max));
}

/// Stores eight codes given as even and odd lanes.
inline void store_codes(int8_t* out, int32x4_t even, int32x4_t odd, mve_pred16_t live) {
  vstrbq_p_s16(out, vmovntq_s32(vmovnbq_s32(vdupq_n_s16(0), even), odd), live);
}

}  // namespace rush
#endif
