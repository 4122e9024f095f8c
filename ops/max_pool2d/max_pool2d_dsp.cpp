// SPDX-License-Identifier: Apache-2.0
//
// Four channels a word: SSUB8 sets a GE flag per byte, SEL picks by it.
#include <arm_acle.h>

#include "max_pool2d.h"

namespace rush {
namespace {

inline int8x4_t greater4(int8x4_t a, int8x4_t b) {
  (void)__ssub8(a, b);
  return static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(a), static_cast<uint8x4_t>(b)));
}

inline int8x4_t greatest4(const PoolWindow<int8_t>& window, int32_t channel, int8x4_t best) {
#pragma GCC unroll 1
  for (int32_t r = 0; r < window.grid.rows; ++r) {
    const int8_t* tap = window.row(r) + channel;
#pragma GCC unroll 1
    for (int32_t left = window.grid.columns; left > 0; --left) {
      int8x4_t four;
      __builtin_memcpy(&four, tap, 4);
      best = greater4(four, best);
      tap += window.grid.step;
    }
  }
  return best;
}

inline int8_t greatest(const PoolWindow<int8_t>& window, int32_t channel, int8_t best) {
#pragma GCC unroll 1
  for (int32_t r = 0; r < window.grid.rows; ++r) {
    const int8_t* tap = window.row(r) + channel;
#pragma GCC unroll 1
    for (int32_t left = window.grid.columns; left > 0; --left) {
      if (*tap > best) best = *tap;
      tap += window.grid.step;
    }
  }
  return best;
}

/// Not inlined: one frame for this and the loops around it would be twice as large.
[[gnu::noinline]] void greatest_pixel(const PoolWindow<int8_t>& window, int8_t* out, int32_t least) {
  const auto least4 = static_cast<int8x4_t>((static_cast<uint32_t>(least) & 0xffu) * 0x01010101u);
  const int32_t channels = window.map->channels;
  int32_t c = 0;
  for (; c + 4 <= channels; c += 4) {
    const int8x4_t best = greatest4(window, c, least4);
    __builtin_memcpy(out + c, &best, 4);
  }
#pragma GCC unroll 1
  for (; c < channels; ++c) out[c] = greatest(window, c, static_cast<int8_t>(least));
}

}  // namespace

void max_pool2d_s8_dsp(const void* params, void* const* operands, Band band) {
  const MaxPool2dParams& p = *static_cast<const MaxPool2dParams*>(params);
  each_window(p.map, static_cast<const int8_t*>(operands[0]), static_cast<int8_t*>(operands[1]), band,
              [&](const PoolWindow<int8_t>& window, int8_t* out) { greatest_pixel(window, out, p.least); });
}

}  // namespace rush
