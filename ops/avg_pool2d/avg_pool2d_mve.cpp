// SPDX-License-Identifier: Apache-2.0
//
// Eight channels at a time, the last ones predicated.
#include "average_mve.h"
#include "avg_pool2d.h"

namespace rush {
namespace {

[[gnu::noinline]] void average_pixel(const AvgPool2dParams& p, const void* scales, const PoolWindow<int8_t>& window,
                                     int8_t* out) {
  const bool one_scale = p.counts.rows.least == p.map.rows.kernel && p.counts.columns.least == p.map.columns.kernel;
  const AverageScale& scale = one_scale ? *static_cast<const AverageScale*>(scales) : scale_of(p, window, scales);
  const MeanCodes codes = mean_codes(scale, zero_points_of(p, window.grid), p.offset, p.range);
  const Rows& in = p.map.in;
  const RowCursor rows = {row_offset(in, static_cast<uint32_t>(window.first_row)), in.row_bytes, ring_bytes(in)};
  mean_of_channels(window.grid, window.column, rows, codes, {out, p.map.channels});
}

}  // namespace

void avg_pool2d_s8_mve(const void* params, void* const* operands, Band band) {
  const AvgPool2dParams& p = *static_cast<const AvgPool2dParams*>(params);
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  each_window(p.map, in, static_cast<int8_t*>(operands[2]), band,
              [&](const PoolWindow<int8_t>& window, int8_t* out) { average_pixel(p, operands[1], window, out); });
}

}  // namespace rush
