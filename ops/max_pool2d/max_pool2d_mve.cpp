// SPDX-License-Identifier: Apache-2.0
//
// Sixteen channels a vector, the last ones predicated.
#include <arm_mve.h>

#include "max_pool2d.h"

namespace rush {
namespace {

inline int8x16_t greatest16(const PoolWindow<int8_t>& window, int32_t channel, int8x16_t best, mve_pred16_t live) {
  for (int32_t r = 0; r < window.grid.rows; ++r) {
    const int8_t* tap = window.row(r) + channel;
    for (int32_t left = window.grid.columns; left > 0; --left) {
      best = vmaxq_s8(best, vldrbq_z_s8(tap, live));
      tap += window.grid.step;
    }
  }
  return best;
}

/// Not inlined: one frame for this and the loops around it would be twice as large.
[[gnu::noinline]] void greatest_pixel(const PoolWindow<int8_t>& window, int8_t* out, int32_t least) {
  const int8x16_t least16 = vdupq_n_s8(static_cast<int8_t>(least));
  for (int32_t c = 0; c < window.map->channels; c += 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(window.map->channels - c));
    vstrbq_p_s8(out + c, greatest16(window, c, least16, live), live);
  }
}

}  // namespace

void max_pool2d_s8_mve(const void* params, void* const* operands, Band band) {
  const MaxPool2dParams& p = *static_cast<const MaxPool2dParams*>(params);
  each_window(p.map, static_cast<const int8_t*>(operands[0]), static_cast<int8_t*>(operands[1]), band,
              [&](const PoolWindow<int8_t>& window, int8_t* out) { greatest_pixel(window, out, p.least); });
}

}  // namespace rush
