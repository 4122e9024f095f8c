// SPDX-License-Identifier: Apache-2.0
//
// Eight channels at a time, the last ones predicated.
#include "average_mve.h"
#include "avg_pool2d.h"

namespace rush {
namespace {

[[gnu::noinline]] void average_pixel(const AvgPool2dParams& p, const void* scales, const PoolWindow<int8_t>& window,
                                     int8_t* out) {
  const AverageScale& scale = scale_of(p, window, scales);
  const int32_t zero_points = zero_points_of(p, window.grid);
  for (int32_t c = 0; c < p.map.channels; c += 8) {
    const mve_pred16_t live = vctp16q(static_cast<uint32_t>(p.map.channels - c));
    const EightSums sums = sum_taps8(window.grid, [&](int32_t r) { return window.row(r) + c; }, live);
    const int32x4_t even = codes_of(vsubq_n_s32(sums.even, zero_points), scale, p.offset, p.range);
    const int32x4_t odd = codes_of(vsubq_n_s32(sums.odd, zero_points), scale, p.offset, p.range);
    store_codes(out + c, even, odd, live);
  }
}

}  // namespace

void avg_pool2d_s8_mve(const void* params, void* const* operands, Band band) {
  const AvgPool2dParams& p = *static_cast<const AvgPool2dParams*>(params);
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  each_window(p.map, in, static_cast<int8_t*>(operands[2]), band,
              [&](const PoolWindow<int8_t>& window, int8_t* out) { average_pixel(p, operands[1], window, out); });
}

}  // namespace rush
