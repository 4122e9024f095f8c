// SPDX-License-Identifier: Apache-2.0
//
// A mean of codes, rounded once, half up; and sums over taps. Shared by average pooling and mean.
#ifndef RUSHLIGHT_OPS_AVERAGE_H
#define RUSHLIGHT_OPS_AVERAGE_H

#include "pool.h"
#include "rushlight/arithmetic.h"

namespace rush {

/// mean = (((sum + bias) << left) * multiplier / 2^32 + round) >> shift, all rounded down. docs/arithmetic.md says how
/// the fields make this the exact mean, or a requantization.
struct AverageScale {
  int32_t multiplier;  ///< [2^30, 2^31)
  int32_t bias;
  int32_t round;
  uint8_t left;
  uint8_t shift;
  uint16_t reserved;
};

inline int32_t mean_of(int32_t sum, const AverageScale& s) {
  const uint32_t biased = static_cast<uint32_t>(sum) + static_cast<uint32_t>(s.bias);
  const int32_t high = multiply_high(static_cast<int32_t>(biased << (s.left & 31)), s.multiplier);
  return wrapping_add(high, s.round) >> (s.shift & 31);
}

/// The sum over a row of taps, `step` bytes apart. Not inlined: small cores have just the registers for it. Windows are
/// small: unrolled loops would cost stack and flash for nothing.
[[gnu::noinline]] inline int32_t sum_row(const int8_t* tap, int32_t count, int32_t step) {
  int32_t sum = 0;
#pragma GCC unroll 1
  for (; count > 0; --count) {
    sum += *tap;
    tap += step;
  }
  return sum;
}

/// The sum over a window in one channel. row_at(r) is where the r-th row of taps begins.
template <class RowAt>
inline int32_t sum_taps(const TapGrid& grid, RowAt row_at) {
  int32_t sum = 0;
#pragma GCC unroll 1
  for (int32_t r = 0; r < grid.rows; ++r) sum += sum_row(row_at(r), grid.columns, grid.step);
  return sum;
}

}  // namespace rush
#endif
