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

/// a + b modulo 2^32: a damaged image may hold any numbers.
inline int32_t sum_of(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

inline int32_t mean_of(int32_t sum, const AverageScale& s) {
  const uint32_t biased = static_cast<uint32_t>(sum) + static_cast<uint32_t>(s.bias);
  const int32_t high = multiply_high(static_cast<int32_t>(biased << (s.left & 31)), s.multiplier);
  return sum_of(high, s.round) >> (s.shift & 31);
}

/// The sum over a window in one channel. row_at(r) is where the r-th row of taps begins. Windows are small: unrolled
/// loops would cost stack and flash for nothing.
template <class RowAt>
inline int32_t sum_taps(const TapGrid& grid, RowAt row_at) {
  int32_t sum = 0;
#pragma GCC unroll 1
  for (int32_t r = 0; r < grid.rows; ++r) {
    const int8_t* tap = row_at(r);
#pragma GCC unroll 1
    for (int32_t left = grid.columns; left > 0; --left) {
      sum += *tap;
      tap += grid.step;
    }
  }
  return sum;
}

}  // namespace rush
#endif
