// SPDX-License-Identifier: Apache-2.0
//
// The walk over pixels and blocks of channels, written once for all variants. Weights lie block by block, tap by tap,
// channel by channel, so a kernel reads them from front to back. Isa is a class with
//   kWidest     channels of all blocks but the last
//   static const int8_t* dot(const DepthwiseConv2dParams&, DepthwiseTile<kWidest>* tile, const int8_t* w)
//     sets the sums of the tile's channels; returns the weights' end
//   static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count)
#ifndef RUSHLIGHT_OPS_DEPTHWISE_CONV2D_WALK_H
#define RUSHLIGHT_OPS_DEPTHWISE_CONV2D_WALK_H

#include <string.h>

#include "../conv2d/conv2d_rolled.h"
#include "depthwise_conv2d.h"

namespace rush {

/// A block of channels of one pixel.
template <uint32_t kWidest>
struct DepthwiseTile {
  const int8_t* in;  ///< the map from the block's first channel on
  int32_t y;         ///< the window's origin
  int32_t x;
  uint32_t width;
  int32_t sums[kWidest];
  int8_t outside[kWidest];  ///< what taps outside the map hold: the zero point
};

/// Stores a tile's codes, four channels at a time; returns what follows its blocks.
template <class Isa>
const ChannelBlock* store_tile(const OutputCodes& codes, const DepthwiseTile<Isa::kWidest>& tile,
                               const ChannelBlock* block, BlockSums* sums) {
  RUSH_ROLLED for (uint32_t c = 0; c < tile.width; c += 4) {
    memcpy(sums->sum, tile.sums + c, 16);
    Isa::store(*block++, codes, sums, tile.width - c < 4 ? tile.width - c : 4);
  }
  return block;
}

/// All outputs of a pixel.
template <class Isa>
void walk_channels(const DepthwiseConv2dParams& p, void* const* operands, int8_t* out,
                   DepthwiseTile<Isa::kWidest>* tile) {
  const int8_t* w = static_cast<const int8_t*>(operands[2]);
  const ChannelBlock* block = static_cast<const ChannelBlock*>(operands[3]);
  BlockSums sums;
  sums.stride = p.multiplier;
  RUSH_ROLLED for (uint32_t m = 0; m < p.multiplier; ++m) {
    tile->in = static_cast<const int8_t*>(operands[0]);
    sums.out = out + m;
    RUSH_ROLLED for (uint32_t left = p.channels; left != 0; left -= tile->width) {
      tile->width = left < Isa::kWidest ? left : static_cast<uint32_t>(Isa::kWidest);
      w = Isa::dot(p, tile, w);
      block = store_tile<Isa>(p.codes, *tile, block, &sums);
      tile->in += tile->width;
    }
  }
}

template <class Isa>
void walk_depthwise(const DepthwiseConv2dParams& p, void* const* operands, Band band) {
  const ConvGeometry& g = p.geometry;
  DepthwiseTile<Isa::kWidest> tile;
  memset(tile.outside, p.zero_point, sizeof tile.outside);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    tile.y = y * g.stride_height - g.pad_top;
    tile.x = -static_cast<int32_t>(g.pad_left);
    RUSH_ROLLED for (uint32_t left = g.out_width; left != 0; --left) {
      walk_channels<Isa>(p, operands, out, &tile);
      out += static_cast<uint32_t>(p.channels) * p.multiplier;
      tile.x += g.stride_width;
    }
  }
}

/// From left to right along a row of a window. Offsets are modulo 2^32: those of taps inside the map are right.
struct TapCursor {
  uint32_t offset;
  uint32_t column;
  uint32_t columns;  ///< of the map; 0 in a row outside of it

  /// The tap's channels in `in`, or `outside` if it lies outside the map.
  const int8_t* channels(const int8_t* in, const int8_t* outside) const {
    return column < columns ? in + offset : outside;
  }
};

/// Where row i of a tile's window begins.
template <uint32_t kWidest>
TapCursor window_row(const DepthwiseConv2dParams& p, const DepthwiseTile<kWidest>& tile, uint32_t i) {
  const ConvGeometry& g = p.geometry;
  const uint32_t y = static_cast<uint32_t>(tile.y) + i * g.dilation_height, x = static_cast<uint32_t>(tile.x);
  if (y >= g.in_height) return {0, x, 0};
  return {row_offset(g.in, y) + x * p.channels, x, g.in_width};
}

}  // namespace rush
#endif
