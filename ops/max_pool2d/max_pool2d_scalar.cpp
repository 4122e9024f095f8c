// SPDX-License-Identifier: Apache-2.0
//
// The portable variants. A window's pixel is not inlined: one frame for it and the loops around it would be twice as
// large.
#include "max_pool2d.h"

namespace rush {
namespace {

inline bool wins(int8_t tap, int8_t best) { return tap > best; }
inline bool wins(float tap, float best) { return tap > best || tap != tap; }

/// The greatest tap of one channel, at least `best`.
template <class T>
inline T greatest(const PoolWindow<T>& window, int32_t channel, T best) {
#pragma GCC unroll 1
  for (int32_t r = 0; r < window.grid.rows; ++r) {
    const T* tap = window.row(r) + channel;
#pragma GCC unroll 1
    for (int32_t left = window.grid.columns; left > 0; --left) {
      if (wins(*tap, best)) best = *tap;
      tap += window.grid.step;
    }
  }
  return best;
}

template <class T>
[[gnu::noinline]] void greatest_pixel(const PoolWindow<T>& window, T* out, T least) {
  for (int32_t c = 0; c < window.map->channels; ++c) out[c] = greatest(window, c, least);
}

template <class T>
inline void max_pool2d(const PoolMap& map, void* const* operands, Band band, T least) {
  each_window(map, static_cast<const T*>(operands[0]), static_cast<T*>(operands[1]), band,
              [least](const PoolWindow<T>& window, T* out) { greatest_pixel(window, out, least); });
}

}  // namespace

void max_pool2d_s8_scalar(const void* params, void* const* operands, Band band) {
  const MaxPool2dParams& p = *static_cast<const MaxPool2dParams*>(params);
  max_pool2d(p.map, operands, band, static_cast<int8_t>(p.least));
}

void max_pool2d_f32_scalar(const void* params, void* const* operands, Band band) {
  max_pool2d(static_cast<const MaxPool2dParams*>(params)->map, operands, band, -__builtin_inff());
}

}  // namespace rush
