// SPDX-License-Identifier: Apache-2.0
//
// Eight channels at a time, the last ones predicated. A window as wide as a whole map is one row of taps.
#include "average_mve.h"
#include "avg_pool2d.h"

namespace rush {
namespace {

/// Whether the window's rows are one run of pixels.
inline bool is_dense(const PoolWindow<int8_t>& window) {
  const PoolMap& map = *window.map;
  return window.grid.columns == map.columns.in && (map.rows.dilation | map.columns.dilation) == 1 &&
         map.in.reciprocal == 0 && map.in.row_bytes == static_cast<uint32_t>(map.columns.in) * map.channels;
}

[[gnu::noinline]] void average_pixel(const AvgPool2dParams& p, const void* scales, const PoolWindow<int8_t>& window,
                                     int8_t* out) {
  const MeanCodes codes = mean_codes(scale_of(p, window, scales), zero_points_of(p, window.grid), p.offset, p.range);
  TapGrid grid = window.grid;
  if (is_dense(window)) grid = {1, grid.rows * grid.columns, grid.step};
  mean_of_channels(grid, [&](int32_t r) { return window.row(r); }, codes, out, p.map.channels);
}

}  // namespace

void avg_pool2d_s8_mve(const void* params, void* const* operands, Band band) {
  const AvgPool2dParams& p = *static_cast<const AvgPool2dParams*>(params);
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  each_window(p.map, in, static_cast<int8_t*>(operands[2]), band,
              [&](const PoolWindow<int8_t>& window, int8_t* out) { average_pixel(p, operands[1], window, out); });
}

}  // namespace rush
