// SPDX-License-Identifier: Apache-2.0
//
// The convolution's walk over its output, written once for all variants. It computes four outputs of Isa::kPixels (1 or
// 2) neighbouring pixels at a time; Isa is a class with
//   kPixels
//   static void copy(int8_t* to, const int8_t* from, uint32_t bytes)
//   static const int8_t* dot(ConvTile<kPixels>* tile, const int8_t* w)
//     sets the sums of the `count` <= 4 outputs of each pixel; returns the weights' end
//   static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count)
//
// Windows inside the map are read where they lie. Others are gathered in scratch, which costs one copy against
// out_channels multiply-accumulates a byte.
#ifndef RUSHLIGHT_OPS_CONV2D_WALK_H
#define RUSHLIGHT_OPS_CONV2D_WALK_H

#include <string.h>

#include "conv2d.h"

namespace rush {

/// Four outputs of one or two pixels. A tile cut to one pixel computes it twice: both windows and both outputs are the
/// same.
template <uint32_t kPixels>
struct ConvTile {
  const int8_t* x[kPixels];  ///< segment s of window i is at x[i] + the cursor's s-th offset
  RowCursor rows;
  ConvSegments segments;
  BlockSums sums[kPixels];
  uint32_t count;
};

/// Input position of a window.
struct WindowOrigin {
  int32_t y;
  int32_t x;
};

/// Copies the taps of a window's row that lie in the map.
template <class Isa>
void gather_row(const Conv2dParams& p, const int8_t* in_row, int32_t x, int8_t* to) {
  const ConvGeometry& g = p.geometry;
  const bool contiguous = g.dilation_width == 1 && p.in_pixel == p.in_channels;
  RUSH_ROLLED for (int32_t left = g.kernel_width; left > 0;) {
    int32_t taps = 1;
    if (x >= 0 && x < g.in_width) {
      if (contiguous) taps = clamp_to(left, 1, g.in_width - x);
      Isa::copy(to, in_row + x * p.in_pixel, static_cast<uint32_t>(taps) * p.in_channels);
    }
    to += taps * p.in_channels;
    x += taps * g.dilation_width;
    left -= taps;
  }
}

/// Copies one window; returns its end.
template <class Isa>
__attribute__((noinline)) int8_t* gather_window(const Conv2dParams& p, const int8_t* in, WindowOrigin at, int8_t* to) {
  const ConvGeometry& g = p.geometry;
  const uint32_t row_bytes = static_cast<uint32_t>(g.kernel_width) * p.in_channels;
  memset(to, p.zero_point, g.kernel_height * row_bytes);
  RUSH_ROLLED for (uint32_t left = g.kernel_height; left != 0; --left) {
    if (at.y >= 0 && at.y < g.in_height) {
      gather_row<Isa>(p, in + row_offset(g.in, static_cast<uint32_t>(at.y)), at.x, to);
    }
    at.y += g.dilation_height;
    to += row_bytes;
  }
  return to;
}

/// All outputs of a tile's pixels.
template <class Isa>
void walk_outputs(const Conv2dParams& p, void* const* operands, ConvTile<Isa::kPixels>* tile) {
  const int8_t* w = static_cast<const int8_t*>(operands[2]);
  const ChannelBlock* block = static_cast<const ChannelBlock*>(operands[3]);
  RUSH_ROLLED for (uint32_t left = p.out_channels; left != 0; left -= tile->count) {
    tile->count = left < 4 ? left : 4;
    w = Isa::dot(tile, w);
    RUSH_ROLLED for (uint32_t i = 0; i < Isa::kPixels; ++i) Isa::store(*block, p.codes, &tile->sums[i], tile->count);
    ++block;
  }
}

/// Row y of the output, or a band of `rows` rows that are as one.
template <class Isa>
void walk_row(const Conv2dParams& p, void* const* operands, Band rows, ConvTile<Isa::kPixels>* tile) {
  const ConvGeometry& g = p.geometry;
  const int32_t pixels = Isa::kPixels, count = rows.end - rows.begin;
  int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(rows.begin));
  WindowOrigin at = {rows.begin * g.stride_height - g.pad_top, -static_cast<int32_t>(g.pad_left)};
  const bool rows_inside = p.gather == 0 && at.y >= 0 && at.y + (g.kernel_height - 1) * g.dilation_height < g.in_height;
  RUSH_ROLLED for (int32_t left = g.out_width * count; left > 0; left -= pixels) {
    const int32_t further = left < pixels ? 0 : pixels - 1, step = further * g.stride_width;
    const int32_t last_column = at.x + step + (g.kernel_width - 1) * g.dilation_width;
    if (rows_inside && at.x >= 0 && last_column < g.in_width * count) {
      tile->rows = window_rows(g, static_cast<uint32_t>(at.y));
      tile->x[0] = static_cast<const int8_t*>(operands[0]) + at.x * p.in_pixel;
      tile->x[pixels - 1] = tile->x[0] + step * p.in_pixel;
    } else {
      const int8_t* const in = static_cast<const int8_t*>(operands[0]);
      int8_t* const scratch = static_cast<int8_t*>(operands[4]);
      int8_t* const second = gather_window<Isa>(p, in, at, scratch);
      if (pixels > 1) gather_window<Isa>(p, in, {at.y, at.x + step}, second);
      tile->rows = {0, tile->segments.bytes, 0xffffffffu};
      tile->x[pixels - 1] = second;
      tile->x[0] = scratch;
    }
    tile->sums[0].out = out;
    tile->sums[pixels - 1].out = out + further * p.out_pixel;
    walk_outputs<Isa>(p, operands, tile);
    out += pixels * p.out_pixel;
    at.x += pixels * g.stride_width;
  }
}

template <class Isa>
void walk_conv2d(const Conv2dParams& p, void* const* operands, Band band) {
  ConvTile<Isa::kPixels> tile;
  tile.segments = conv2d_segments(p);
  RUSH_ROLLED for (BlockSums& sums : tile.sums) sums.stride = 1;
  const int32_t rows = is_dense_pointwise(p) ? band.end - band.begin : 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += rows) walk_row<Isa>(p, operands, {y, y + rows}, &tile);
}

}  // namespace rush
#endif
