// SPDX-License-Identifier: Apache-2.0
//
// Sixteen channels a vector, the last ones predicated.
#include "max_pool2d.h"
#include "max_pool2d_walk_mve.h"

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
[[gnu::noinline]] void greatest_pixel(const PoolWindow<int8_t>& window, int8_t* out, int8x16_t least) {
#pragma GCC unroll 1
  for (int32_t c = 0; c < window.map->channels; c += 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(window.map->channels - c));
    vstrbq_p_s8(out + c, greatest16(window, c, least, live), live);
  }
}

inline void greatest_listed(const TapList& list, const int8_t* column, int8_t* out, int32_t channels, int8x16_t least) {
#pragma GCC unroll 1
  for (int32_t c = 0; c < channels; c += 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(channels - c));
    const uint32_t* offset = list.offset;
    int8x16_t best = least;
#pragma GCC unroll 1
    for (uint32_t left = list.count; left != 0; --left) {
      best = vmaxq_s8(best, vldrbq_z_s8(column + *offset++, live));
    }
    vstrbq_p_s8(out, best, live);
    column += 16;
    out += 16;
  }
}

}  // namespace

void max_pool2d_s8_mve(const void* params, void* const* operands, Band band) {
  const MaxPool2dParams& p = *static_cast<const MaxPool2dParams*>(params);
  const int8x16_t least = vdupq_n_s8(static_cast<int8_t>(p.least));
  const int32_t channels = p.map.channels;
  each_window_listed(
      p.map, static_cast<const int8_t*>(operands[0]), static_cast<int8_t*>(operands[1]), band,
      [&](const TapList& list, const int8_t* column, int8_t* out) {
        greatest_listed(list, column, out, channels, least);
      },
      [&](const PoolWindow<int8_t>& window, int8_t* out) { greatest_pixel(window, out, least); });
}

}  // namespace rush
