// SPDX-License-Identifier: Apache-2.0
//
// Four channels at a time: SXTB16 makes halfwords of a word of inputs and of weights, SMLABB and SMLATT multiply them
// lane by lane. Windows inside the map are read without looking where each tap lies.
#include <arm_acle.h>

#include "../conv2d/conv2d_dot_dsp.h"
#include "depthwise_conv2d.h"
#include "depthwise_conv2d_lane.h"
#include "depthwise_conv2d_walk.h"

namespace rush {
namespace {

/// Taps of a window inside the map: `rows` rows of `taps` each.
struct InnerWindow {
  uint32_t rows;
  uint32_t taps;
  uint32_t step;  ///< between taps
  RowCursor at;   ///< the first row
};

struct FourSums {
  int32_t a, b, c, d;

  void add(const BytePairs& p, const BytePairs& v) {
    a = __smlabb(p.even, v.even, a);
    b = __smlabb(p.odd, v.odd, b);
    c = __smlatt(p.even, v.even, c);
    d = __smlatt(p.odd, v.odd, d);
  }

  void store(int32_t* to) const {
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
  }
};

/// Taps side by side. A function of its own, or compilers keep what its loop needs on the stack.
__attribute__((noinline)) void dot_taps(const InnerWindow& window, const int8_t* tap, const int8_t* w, int32_t* sums) {
  FourSums four = {sums[0], sums[1], sums[2], sums[3]};
  const uint32_t step = window.step;
  uint32_t left = window.taps;
  if (left == 0) return;
  RUSH_ROLLED do {
    four.add(load_pairs(tap), load_pairs(w));
    tap += step;
    w += 4;
  }
  while (--left != 0);
  four.store(sums);
}

/// All taps lie in the map; `x` are the four channels of its first pixel.
inline void dot_inside(const InnerWindow& window, const int8_t* x, const int8_t* w, int32_t* sums) {
  RowCursor rows = window.at;
  sums[0] = sums[1] = sums[2] = sums[3] = 0;
  RUSH_ROLLED for (uint32_t i = window.rows; i != 0; --i, rows.next()) {
    dot_taps(window, x + rows.offset, w, sums);
    w += 4 * window.taps;
  }
}

/// Any window.
__attribute__((noinline)) void dot_border(const DepthwiseConv2dParams& p, DepthwiseTile<4>* tile, const int8_t* w) {
  const ConvGeometry& g = p.geometry;
  const uint32_t step = static_cast<uint32_t>(g.dilation_width) * p.channels;
  FourSums four = {0, 0, 0, 0};
  RUSH_ROLLED for (uint32_t i = 0; i < g.kernel_height; ++i) {
    TapCursor at = window_row(p, *tile, i);
    RUSH_ROLLED for (uint32_t left = g.kernel_width; left != 0; --left, w += 4) {
      four.add(load_pairs(at.channels(tile->in, tile->outside)), load_pairs(w));
      at.offset += step;
      at.column += g.dilation_width;
    }
  }
  four.store(tile->sums);
}

/// What all windows have in common.
struct DspDepthwise {
  const DepthwiseConv2dParams* params;
  InnerWindow window;
  bool is_inside;  ///< the window at hand; then `window.at` is its first row
  bool is_plain;   ///< all codes from -128 to 127, no left shift
};

/// The codes of a tile's channels; returns what follows them.
int8_t* store_tile(const DspDepthwise& walk, const DepthwiseTile<4>& tile, const ChannelBlock& block, int8_t* out) {
  const OutputCodes& codes = walk.params->codes;
  const uint32_t step = walk.params->multiplier;
  if (walk.is_plain && tile.width == 4) {
    const int32_t rounding = 2 * codes.zero_point + 1;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < 4; ++i, out += step) {
      *out = plain_code(wrapping_add(tile.sums[i], block.bias[i]), block.scale[i], rounding);
    }
    return out;
  }
  RUSH_ROLLED for (uint32_t i = 0; i < tile.width; ++i, out += step) {
    *out = any_code(wrapping_add(tile.sums[i], block.bias[i]), block.scale[i], codes);
  }
  return out;
}

/// All outputs of a pixel.
void walk_pixel(const DspDepthwise& walk, void* const* operands, int8_t* out, DepthwiseTile<4>* tile) {
  const DepthwiseConv2dParams& p = *walk.params;
  const int8_t* w = static_cast<const int8_t*>(operands[2]);
  const ChannelBlock* block = static_cast<const ChannelBlock*>(operands[3]);
  const uint32_t taps = static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width;
  RUSH_ROLLED for (uint32_t m = 0; m < p.multiplier; ++m) {
    tile->in = static_cast<const int8_t*>(operands[0]);
    int8_t* code = out + m;
    RUSH_ROLLED for (uint32_t left = p.channels; left != 0; left -= tile->width) {
      tile->width = left < 4 ? left : 4;
      if (tile->width != 4) {
        RUSH_ROLLED for (uint32_t lane = 0; lane < tile->width; ++lane) tile->sums[lane] = dot_lane(p, *tile, w, lane);
      } else if (walk.is_inside) {
        dot_inside(walk.window, tile->in + tile->x * p.channels, w, tile->sums);
      } else {
        dot_border(p, tile, w);
      }
      code = store_tile(walk, *tile, *block++, code);
      tile->in += tile->width;
      w += taps * tile->width;
    }
  }
}

}  // namespace

void depthwise_conv2d_s8_dsp(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  const int32_t height = (g.kernel_height - 1) * g.dilation_height, width = (g.kernel_width - 1) * g.dilation_width;
  DspDepthwise walk = {
      &p,
      {g.kernel_height, g.kernel_width, static_cast<uint32_t>(g.dilation_width) * p.channels, {0, 0, 0}},
      false,
      p.codes.are_all() && p.codes.left_shift == 0};
  // A column's taps are as good as a row's.
  if (g.kernel_width == 1 && g.in.reciprocal == 0)
    walk.window = {1, g.kernel_height, g.dilation_height * g.in.row_bytes, {0, 0, 0}};
  DepthwiseTile<4> tile;
  memset(tile.outside, p.zero_point, sizeof tile.outside);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    tile.y = y * g.stride_height - g.pad_top;
    tile.x = -static_cast<int32_t>(g.pad_left);
    const bool rows_inside = tile.y >= 0 && tile.y + height < g.in_height;
    if (rows_inside) walk.window.at = window_rows(g, static_cast<uint32_t>(tile.y));
    RUSH_ROLLED for (uint32_t left = g.out_width; left != 0; --left) {
      walk.is_inside = rows_inside && tile.x >= 0 && tile.x + width < g.in_width;
      walk_pixel(walk, operands, out, &tile);
      out += static_cast<uint32_t>(p.channels) * p.multiplier;
      tile.x += g.stride_width;
    }
  }
}

}  // namespace rush
