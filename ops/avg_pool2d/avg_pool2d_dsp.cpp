// SPDX-License-Identifier: Apache-2.0
//
// Four channels at a time.
#include "average_dsp.h"
#include "avg_pool2d.h"

namespace rush {
namespace {

/// Rows of taps that follow each other are as one: a window as wide as its map.
TapGrid merged(const PoolMap& map, const TapGrid& grid) {
  const bool is_one = map.in.reciprocal == 0 && map.rows.dilation == 1 &&
                      static_cast<uint32_t>(grid.columns * grid.step) == map.in.row_bytes;
  return is_one && grid.rows != 0 ? TapGrid{1, grid.rows * grid.columns, grid.step} : grid;
}

// Not inlined: one frame for the state of all loops would be twice as large.
[[gnu::noinline]] void average_pixel(const AvgPool2dParams& p, const void* scales, const PoolWindow<int8_t>& window,
                                     int8_t* out) {
  const AverageScale& scale = scale_of(p, window, scales);
  const TapGrid grid = merged(p.map, window.grid);
  const int32_t zero_points = zero_points_of(p, grid);
  int32_t c = 0;
  for (; c + 4 <= p.map.channels; c += 4) {
    const FourSums sums = sum_taps4(grid, [&](int32_t r) { return window.row(r) + c; });
    for (int32_t i = 0; i < 4; ++i) out[c + i] = code_of(p, scale, sums.channel[i] - zero_points);
  }
#pragma GCC unroll 1
  for (; c < p.map.channels; ++c)
    out[c] = code_of(p, scale, sum_taps(grid, [&](int32_t r) { return window.row(r) + c; }) - zero_points);
}

}  // namespace

void avg_pool2d_s8_dsp(const void* params, void* const* operands, Band band) {
  const AvgPool2dParams& p = *static_cast<const AvgPool2dParams*>(params);
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  each_window(p.map, in, static_cast<int8_t*>(operands[2]), band,
              [&](const PoolWindow<int8_t>& window, int8_t* out) { average_pixel(p, operands[1], window, out); });
}

}  // namespace rush
