// SPDX-License-Identifier: Apache-2.0
//
// The portable variant: four channels at a time, the rest one by one.
#include "../conv2d/conv2d_codes_scalar.h"
#include "depthwise_conv2d.h"
#include "depthwise_conv2d_lane.h"
#include "depthwise_conv2d_walk.h"
#include "depthwise_rows.h"

namespace rush {
namespace {

#if RUSH_SCALAR_LOOPS
/// Only what the assembly does not take comes here: no code of its own for whole blocks.
inline bool set_block(const DepthwiseConv2dParams&, const DepthwiseTile<4>&, const int8_t*, const ChannelBlock&,
                      int32_t*) {
  return false;
}
#else
/// Sets the sums of four channels, if there are four.
inline bool set_block(const DepthwiseConv2dParams& p, const DepthwiseTile<4>& tile, const int8_t* w,
                      const ChannelBlock& block, int32_t* sums) {
  if (tile.width != 4) return false;
  const ConvGeometry& g = p.geometry;
  const uint32_t step = static_cast<uint32_t>(g.dilation_width) * p.channels;
  uint32_t a = wrapping(block.bias[0]), b = wrapping(block.bias[1]), c = wrapping(block.bias[2]),
           d = wrapping(block.bias[3]);
  RUSH_ROLLED for (uint32_t i = 0; i < g.kernel_height; ++i) {
    TapCursor at = window_row(p, tile, i);
    RUSH_ROLLED for (uint32_t left = g.kernel_width; left != 0; --left) {
      const int8_t* const x = at.channels(tile.in, tile.outside);
      a += wrapping(x[0] * w[0]);
      b += wrapping(x[1] * w[1]);
      c += wrapping(x[2] * w[2]);
      d += wrapping(x[3] * w[3]);
      w += 4;
      at.offset += step;
      at.column += g.dilation_width;
    }
  }
  sums[0] = static_cast<int32_t>(a);
  sums[1] = static_cast<int32_t>(b);
  sums[2] = static_cast<int32_t>(c);
  sums[3] = static_cast<int32_t>(d);
  return true;
}
#endif

/// All outputs of a pixel, whatever its channels.
void pixel_in_bytes(const DepthwiseConv2dParams& p, void* const* operands, DepthwiseTile<4>* tile, int8_t* out) {
  const uint32_t taps = static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width;
  const int8_t* w = static_cast<const int8_t*>(operands[2]);
  const ChannelBlock* block = static_cast<const ChannelBlock*>(operands[3]);
  CodeSums sums;
  sums.stride = p.multiplier;
  RUSH_ROLLED for (uint32_t m = 0; m < p.multiplier; ++m) {
    tile->in = static_cast<const int8_t*>(operands[0]);
    sums.out = out + m;
    RUSH_ROLLED for (uint32_t left = p.channels; left != 0; left -= tile->width, tile->in += tile->width) {
      tile->width = left < 4 ? left : 4;
      if (!set_block(p, *tile, w, *block, sums.sum)) {
        RUSH_ROLLED for (uint32_t lane = 0; lane < tile->width; ++lane) {
          sums.sum[lane] = static_cast<int32_t>(wrapping(block->bias[lane]) + wrapping(dot_lane(p, *tile, w, lane)));
        }
      }
      store_sums(block++, p.codes, &sums, tile->width);
      w += taps * tile->width;
    }
  }
}

#if RUSH_SCALAR_LOOPS
/// Where a tap's inputs and weights lie.
struct TapOffset {
  uint32_t input;
  uint32_t weight;
};

/// A pixel as the assembly takes it, block of channels by block; `in`, `channels`, `weights` and `out` move on.
struct DepthwisePixel {
  const int8_t* in;  ///< what the offsets of the taps inside are from
  const ChannelBlock* channels;
  const int8_t* weights;
  const TapOffset* taps;  ///< those inside the map, then the others
  const TapOffset* inside_end;
  const TapOffset* end;
  const uint32_t* outside;  ///< four times the zero point
  int8_t* out;
  uint32_t stride;
  int32_t zero_point;
  int32_t min;
  int32_t max;
  int32_t sums[4];
  uint32_t block_bytes;
  uint32_t blocks;
};

extern "C" void rush_depthwise_blocks(DepthwisePixel* pixel);

enum : uint32_t { kMostTaps = 25 };

/// Lists the taps of a window at (y, x), those inside the map from the front, the others from the back.
__attribute__((noinline)) void list_taps(const DepthwiseConv2dParams& p, uint32_t y, uint32_t x, TapOffset* taps,
                                         DepthwisePixel* pixel) {
  const ConvGeometry& g = p.geometry;
  TapOffset* outside = taps + g.kernel_height * g.kernel_width;
  pixel->end = outside;
  uint32_t weight = 0;
  RUSH_ROLLED for (uint32_t i = g.kernel_height; i != 0; --i, y += g.dilation_height) {
    const uint32_t columns = y < g.in_height ? g.in_width : 0;
    uint32_t offset = columns != 0 ? row_offset(g.in, y) : 0, column = x;
    RUSH_ROLLED for (uint32_t j = g.kernel_width; j != 0; --j, weight += 4) {
      if (column < columns) {
        *taps++ = {offset, weight};
      } else {
        *--outside = {0, weight};
      }
      offset += static_cast<uint32_t>(g.dilation_width) * p.channels;
      column += g.dilation_width;
    }
  }
  pixel->inside_end = taps;
}

void depthwise_row(const DepthwiseConv2dParams& p, void* const* operands, int32_t row, DepthwisePixel* pixel) {
  const ConvGeometry& g = p.geometry;
  TapOffset taps[kMostTaps];
  pixel->taps = taps;
  int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(row));
  int32_t x = -static_cast<int32_t>(g.pad_left), same_until = x;
  const int32_t inside = g.in_width - (g.kernel_width - 1) * g.dilation_width;  // windows that begin in [0, inside)
  RUSH_ROLLED for (uint32_t left = g.out_width; left != 0; --left, x += g.stride_width) {
    if (x >= same_until) {
      list_taps(p, static_cast<uint32_t>(row * g.stride_height - g.pad_top), static_cast<uint32_t>(x), taps, pixel);
      same_until = x >= 0 && x < inside ? inside : x + 1;
    }
    pixel->weights = static_cast<const int8_t*>(operands[2]);
    pixel->channels = static_cast<const ChannelBlock*>(operands[3]);
    RUSH_ROLLED for (uint32_t m = 0; m < p.multiplier; ++m) {
      pixel->in = static_cast<const int8_t*>(operands[0]) + x * p.channels;
      pixel->out = out + m;
      pixel->blocks = p.channels >> 2;
      rush_depthwise_blocks(pixel);
    }
    out += static_cast<uint32_t>(p.channels) * p.multiplier;
  }
}

/// Whether blocks can be read as words and all else fits the assembly; then it does the band.
__attribute__((noinline)) bool depthwise_in_words(const DepthwiseConv2dParams& p, void* const* operands, Band band) {
  const ConvGeometry& g = p.geometry;
  const uint32_t taps = static_cast<uint32_t>(g.kernel_height) * g.kernel_width;
  const uintptr_t in = reinterpret_cast<uintptr_t>(operands[0]);
  if (((p.channels | g.in.row_bytes | in) & 3u) != 0 || taps > kMostTaps || p.codes.left_shift != 0) return false;
  const uint32_t outside = static_cast<uint8_t>(p.zero_point) * 0x01010101u;
  DepthwisePixel pixel;
  pixel.outside = &outside;
  pixel.stride = p.multiplier;
  pixel.zero_point = p.codes.zero_point;
  pixel.min = p.codes.min;
  pixel.max = p.codes.max;
  pixel.block_bytes = taps * 4;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) depthwise_row(p, operands, y, &pixel);
  return true;
}
#else
bool depthwise_in_words(const DepthwiseConv2dParams&, void* const*, Band) { return false; }
#endif

/// Has a frame of its own, which the other way does not pay for.
__attribute__((noinline)) void depthwise_in_bytes(const DepthwiseConv2dParams& p, void* const* operands, Band band) {
  const ConvGeometry& g = p.geometry;
  DepthwiseTile<4> tile;
  memset(tile.outside, p.zero_point, sizeof tile.outside);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    tile.y = y * g.stride_height - g.pad_top;
    tile.x = -static_cast<int32_t>(g.pad_left);
    RUSH_ROLLED for (uint32_t left = g.out_width; left != 0; --left, tile.x += g.stride_width) {
      pixel_in_bytes(p, operands, &tile, out);
      out += static_cast<uint32_t>(p.channels) * p.multiplier;
    }
  }
}

}  // namespace

void depthwise_conv2d_s8_scalar(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  if (!depthwise_in_words(p, operands, band)) depthwise_in_bytes(p, operands, band);
}

void depthwise_rows_s8_scalar(const void* params, void* const* operands, Band band) {
  depthwise_conv2d_s8_scalar(&static_cast<const DepthwiseRowsParams*>(params)->depthwise, operands, band);
}

}  // namespace rush
