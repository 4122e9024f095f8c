// SPDX-License-Identifier: Apache-2.0
//
// Sums over taps of eight channels at a time in 16-bit lanes, which hold 256 codes; the mean in 32-bit lanes.
#ifndef RUSHLIGHT_OPS_AVERAGE_MVE_H
#define RUSHLIGHT_OPS_AVERAGE_MVE_H

#include <arm_mve.h>

#include "../conv2d/conv2d_geometry.h"
#include "../conv2d/conv2d_rolled.h"
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

/// Where codes of neighbouring channels go.
struct Channels {
  int8_t* out;
  int32_t count;
};

/// Sums of eight channels' even and odd lanes.
struct EightSums {
  int32x4_t even;
  int32x4_t odd;
};

/// sums + one tap or more of eight channels; `live` are the channels to read. In all, sums hold kNarrowTaps taps.
inline int16x8_t add_taps(int16x8_t sums, const int8_t* tap, int32_t count, int32_t step, mve_pred16_t live) {
  RUSH_ROLLED do {
    sums = vaddq_s16(sums, vldrbq_z_s16(tap, live));
    tap += step;
  }
  while (--count != 0);
  return sums;
}

/// The same where all channels are there: predicating the loads costs a third of a tap.
inline int16x8_t add_taps(int16x8_t sums, const int8_t* tap, int32_t count, int32_t step) {
  RUSH_ROLLED do {
    sums = vaddq_s16(sums, vldrbq_s16(tap));
    tap += step;
  }
  while (--count != 0);
  return sums;
}

inline EightSums widened(int16x8_t sums) { return {vmovlbq_s16(sums), vmovltq_s16(sums)}; }

/// The sums over rows of taps that begin `rows.offset` behind `first`.
inline EightSums sum_channels(const TapGrid& grid, const int8_t* first, RowCursor rows, mve_pred16_t live) {
  int16x8_t narrow = vdupq_n_s16(0);
  EightSums sums = widened(narrow);
  int32_t room = kNarrowTaps;
  RUSH_ROLLED for (int32_t r = grid.rows; r > 0; --r) {
    const int8_t* tap = first + rows.offset;
    rows.next();
    RUSH_ROLLED for (int32_t left = grid.columns; left > 0;) {
      const int32_t count = left < room ? left : room;
      narrow = add_taps(narrow, tap, count, grid.step, live);
      tap += count * grid.step;
      left -= count;
      room -= count;
      if (room != 0) continue;
      const EightSums part = widened(narrow);
      sums = {vaddq_s32(sums.even, part.even), vaddq_s32(sums.odd, part.odd)};
      narrow = vdupq_n_s16(0);
      room = kNarrowTaps;
    }
  }
  const EightSums part = widened(narrow);
  return {vaddq_s32(sums.even, part.even), vaddq_s32(sums.odd, part.odd)};
}

/// Codes of `count` neighbouring channels.
inline void mean_of_channels(const TapGrid& grid, const int8_t* first, const RowCursor& rows, const MeanCodes& codes,
                             Channels to) {
  RUSH_ROLLED for (int32_t left = to.count; left > 0; left -= 8) {
    const mve_pred16_t live = vctp16q(static_cast<uint32_t>(left));
    const EightSums sums = sum_channels(grid, first, rows, live);
    vstrbq_p_s16(to.out, codes.of(sums.even, sums.odd), live);
    first += 8;
    to.out += 8;
  }
}

}  // namespace rush
#endif
