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
/// Layers of whole blocks are depthwise_words_s8's: no code of their own.
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
void walk_pixel(const DepthwiseConv2dParams& p, void* const* operands, DepthwiseTile<4>* tile, int8_t* out) {
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

}  // namespace

void depthwise_conv2d_s8_scalar(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  DepthwiseTile<4> tile;
  memset(tile.outside, p.zero_point, sizeof tile.outside);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    tile.y = y * g.stride_height - g.pad_top;
    tile.x = -static_cast<int32_t>(g.pad_left);
    RUSH_ROLLED for (uint32_t left = g.out_width; left != 0; --left, tile.x += g.stride_width) {
      walk_pixel(p, operands, &tile, out);
      out += static_cast<uint32_t>(p.channels) * p.multiplier;
    }
  }
}

void depthwise_rows_s8_scalar(const void* params, void* const* operands, Band band) {
  depthwise_conv2d_s8_scalar(&static_cast<const DepthwiseRowsParams*>(params)->depthwise, operands, band);
}

}  // namespace rush
