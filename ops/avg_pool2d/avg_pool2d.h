// SPDX-License-Identifier: Apache-2.0
//
// out[y,x,c] = mean of in over the window of (y, x), rounded once. docs/arithmetic.md has the definition.
#ifndef RUSHLIGHT_OPS_AVG_POOL2D_H
#define RUSHLIGHT_OPS_AVG_POOL2D_H

#include "average.h"
#include "pool.h"

namespace rush {

/// Which positions of one axis count in the divisor: those in [begin, end). A window of this axis counts `least` of
/// them or more; scales are a table by the counts of rows and columns above their least.
struct CountedSpan {
  int16_t begin;
  uint16_t end;
  uint16_t least;
  uint16_t reserved;
};

/// Not inlined: there are two axes.
[[gnu::noinline]] inline int32_t counted(const PoolAxis& axis, const CountedSpan& span, int32_t i) {
  const int32_t begin = window_begin(axis, i), end = begin + axis.kernel;
  return (end < span.end ? end : span.end) - (begin > span.begin ? begin : span.begin);
}

struct PoolCounts {
  CountedSpan rows;
  CountedSpan columns;
};

/// Number of scales, and the index of a window's.
inline uint32_t count_classes(const PoolMap& map, const PoolCounts& counts) {
  return static_cast<uint32_t>((map.rows.kernel - counts.rows.least + 1) *
                               (map.columns.kernel - counts.columns.least + 1));
}

inline int32_t count_class(const PoolMap& map, const PoolCounts& counts, int32_t y, int32_t x) {
  const int32_t row_class = counted(map.rows, counts.rows, y) - counts.rows.least;
  const int32_t column_class = counted(map.columns, counts.columns, x) - counts.columns.least;
  return row_class * (map.columns.kernel - counts.columns.least + 1) + column_class;
}

/// Operands: 0 in, 1 AverageScale[count_classes], 2 out. Maps [H,W,C] of any alignment, dilation 1. out may begin
/// where in does if there is no padding above and to the left: no window begins before its output.
struct AvgPool2dParams {
  PoolMap map;
  PoolCounts counts;
  int32_t zero_point;  ///< of in
  int32_t offset;      ///< added to the mean
  Range range;
};

extern const KernelContract avg_pool2d_s8_contract;
Kernel avg_pool2d_s8_scalar, avg_pool2d_s8_dsp, avg_pool2d_s8_mve;

/// float32; operands 4-byte aligned; operand 1 holds reciprocals. Sums rows in order, each from left to right.
struct AvgPool2dF32Params {
  PoolMap map;
  PoolCounts counts;
};

extern const KernelContract avg_pool2d_f32_contract;
Kernel avg_pool2d_f32_scalar;

inline const AverageScale& scale_of(const AvgPool2dParams& p, const PoolWindow<int8_t>& window, const void* scales) {
  return static_cast<const AverageScale*>(scales)[count_class(p.map, p.counts, window.y, window.x)];
}

/// What the zero point adds to the sum of a window.
inline int32_t zero_points_of(const AvgPool2dParams& p, const TapGrid& grid) {
  const uint32_t taps = static_cast<uint32_t>(grid.rows) * static_cast<uint32_t>(grid.columns);
  return static_cast<int32_t>(static_cast<uint32_t>(p.zero_point) * taps);
}

inline int8_t code_of(const AvgPool2dParams& p, const AverageScale& scale, int32_t sum) {
  return static_cast<int8_t>(clamp_to(wrapping_add(mean_of(sum, scale), p.offset), p.range.min, p.range.max));
}

}  // namespace rush
#endif
