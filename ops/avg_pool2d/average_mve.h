// SPDX-License-Identifier: Apache-2.0
//
// Sums over taps of eight channels at a time in 16-bit lanes, which hold 256 codes; the mean in 32-bit lanes.
#ifndef RUSHLIGHT_OPS_AVERAGE_MVE_H
#define RUSHLIGHT_OPS_AVERAGE_MVE_H

#include <arm_mve.h>

#include "average.h"

namespace rush {

enum { kNarrowTaps = 256 };

/// A mean as codes: AverageScale with what else is added.
struct MeanCodes {
  int32_t bias;
  int32_t left;
  int32_t round;
  int32_t shift;
  int32_t offset;
  int32x4_t multiplier;
  int16x8_t min;
  int16x8_t max;

  int32x4_t of(int32x4_t sum) const {
    const int32x4_t high = vmulhq_s32(vshlq_r_s32(vaddq_n_s32(sum, bias), left), multiplier);
    return vaddq_n_s32(vshlq_r_s32(vaddq_n_s32(high, round), -shift), offset);
  }
  /// From even and odd lanes.
  int16x8_t of(int32x4_t even, int32x4_t odd) const {
    const int16x8_t codes = vqmovntq_s32(vqmovnbq_s32(vdupq_n_s16(0), of(even)), of(odd));
    return vminq_s16(vmaxq_s16(codes, min), max);
  }
};

/// `zero_points` are those of all taps together.
inline MeanCodes mean_codes(const AverageScale& s, int32_t zero_points, int32_t offset, Range range) {
  return {wrapping_add(s.bias, -zero_points),
          s.left,
          s.round,
          s.shift,
          offset,
          vdupq_n_s32(s.multiplier),
          vdupq_n_s16(static_cast<int16_t>(range.min)),
          vdupq_n_s16(static_cast<int16_t>(range.max))};
}

/// Sums of eight channels' even and odd lanes.
struct EightSums {
  int32x4_t even;
  int32x4_t odd;
};

/// `live` are the channels to read.
template <class RowAt>
inline EightSums sum_channels(const TapGrid& grid, RowAt row_at, mve_pred16_t live) {
  EightSums sums = {vdupq_n_s32(0), vdupq_n_s32(0)};
#pragma GCC unroll 1
  for (int32_t r = 0; r < grid.rows; ++r) {
    const int8_t* tap = row_at(r);
#pragma GCC unroll 1
    for (int32_t left = grid.columns; left > 0; left -= kNarrowTaps) {
      int16x8_t narrow = vdupq_n_s16(0);
#pragma GCC unroll 1
      for (int32_t taps = left < kNarrowTaps ? left : static_cast<int32_t>(kNarrowTaps); taps != 0; --taps) {
        narrow = vaddq_s16(narrow, vldrbq_z_s16(tap, live));
        tap += grid.step;
      }
      sums.even = vaddq_s32(sums.even, vmovlbq_s16(narrow));
      sums.odd = vaddq_s32(sums.odd, vmovltq_s16(narrow));
    }
  }
  return sums;
}

/// Codes of `count` neighbouring channels; row_at(r) is where the first one's r-th row of taps begins.
template <class RowAt>
inline void mean_of_channels(const TapGrid& grid, RowAt row_at, const MeanCodes& codes, int8_t* out, int32_t count) {
#pragma GCC unroll 1
  for (int32_t c = 0; c < count; c += 8) {
    const mve_pred16_t live = vctp16q(static_cast<uint32_t>(count - c));
    const EightSums sums = sum_channels(grid, [&](int32_t r) { return row_at(r) + c; }, live);
    vstrbq_p_s16(out + c, codes.of(sums.even, sums.odd), live);
  }
}

}  // namespace rush
#endif
