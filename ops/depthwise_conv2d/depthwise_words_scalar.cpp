// SPDX-License-Identifier: Apache-2.0
//
// Four channels of a pixel at a time, a word of inputs and one of weights a tap. The taps of a window are a list, those
// inside the map first; it serves all channels, and all windows that lie inside the map as that one does.
#include "../conv2d/conv2d_codes_scalar.h"
#include "depthwise_words.h"

namespace rush {
#if RUSH_SCALAR_LOOPS
namespace {

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
  TapOffset taps[kWordsTaps];
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

}  // namespace

void depthwise_words_s8_scalar(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const uint32_t outside = static_cast<uint8_t>(p.zero_point) * 0x01010101u;
  DepthwisePixel pixel;
  pixel.outside = &outside;
  pixel.stride = p.multiplier;
  pixel.zero_point = p.codes.zero_point;
  pixel.min = p.codes.min;
  pixel.max = p.codes.max;
  pixel.block_bytes = 4u * p.geometry.kernel_height * p.geometry.kernel_width;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) depthwise_row(p, operands, y, &pixel);
}
#else
void depthwise_words_s8_scalar(const void* params, void* const* operands, Band band) {
  depthwise_conv2d_s8_scalar(params, operands, band);
}
#endif

}  // namespace rush
