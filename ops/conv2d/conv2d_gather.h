// SPDX-License-Identifier: Apache-2.0
//
// Windows that are not read where they lie are gathered in scratch, which costs one copy against out_channels
// multiply-accumulates a byte.
#ifndef RUSHLIGHT_OPS_CONV2D_GATHER_H
#define RUSHLIGHT_OPS_CONV2D_GATHER_H

#include <string.h>

#include "conv2d.h"

namespace rush {

/// Input position of a window.
struct WindowOrigin {
  int32_t y;
  int32_t x;
};

/// Copies from the first byte to the last. Not memcpy(), since an image that nobody compiled may let the two overlap;
/// not memmove(), which no firmware links otherwise.
inline void copy_forward(int8_t* to, const int8_t* from, uint32_t bytes) {
  if (((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) & 3u) == 0) {
    for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
      uint32_t word;
      __builtin_memcpy(&word, __builtin_assume_aligned(from, 4), 4);
      __builtin_memcpy(__builtin_assume_aligned(to, 4), &word, 4);
    }
  }
  for (; bytes != 0; --bytes) *to++ = *from++;
}

/// Copies the taps of a window's row that lie in the map. Copy has
/// static void copy(int8_t* to, const int8_t* from, uint32_t bytes).
template <class Copy>
void gather_row(const Conv2dParams& p, const int8_t* in_row, int32_t x, int8_t* to) {
  const ConvGeometry& g = p.geometry;
  const bool contiguous = g.dilation_width == 1 && p.in_pixel == p.in_channels;
  RUSH_ROLLED for (int32_t left = g.kernel_width; left > 0;) {
    int32_t taps = 1;
    if (x >= 0 && x < g.in_width) {
      if (contiguous) taps = clamp_to(left, 1, g.in_width - x);
      Copy::copy(to, in_row + x * p.in_pixel, static_cast<uint32_t>(taps) * p.in_channels);
    }
    to += taps * p.in_channels;
    x += taps * g.dilation_width;
    left -= taps;
  }
}

/// Copies one window; returns its end.
template <class Copy>
__attribute__((noinline)) int8_t* gather_window(const Conv2dParams& p, const int8_t* in, WindowOrigin at, int8_t* to) {
  const ConvGeometry& g = p.geometry;
  const uint32_t row_bytes = static_cast<uint32_t>(g.kernel_width) * p.in_channels;
  memset(to, p.zero_point, g.kernel_height * row_bytes);
  RUSH_ROLLED for (uint32_t left = g.kernel_height; left != 0; --left) {
    if (at.y >= 0 && at.y < g.in_height) {
      gather_row<Copy>(p, in + row_offset(g.in, static_cast<uint32_t>(at.y)), at.x, to);
    }
    at.y += g.dilation_height;
    to += row_bytes;
  }
  return to;
}

}  // namespace rush
#endif
