// SPDX-License-Identifier: Apache-2.0
//
// The walk over positions and outputs, written once for all variants: four outputs at a time. Isa is a class with
//   static const int8_t* dot(LinearTile* tile, const int8_t* w)
//     sets the sums of `count` <= 4 outputs; returns the weights' end
//   static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count)
#ifndef RUSHLIGHT_OPS_LINEAR_WALK_H
#define RUSHLIGHT_OPS_LINEAR_WALK_H

#include "../conv2d/conv2d_rolled.h"
#include "linear.h"

namespace rush {

/// Up to four outputs of one position.
struct LinearTile {
  const int8_t* x;
  uint32_t features;
  BlockSums sums;
  uint32_t count;
};

template <class Isa>
void walk_outputs(const LinearParams& p, void* const* operands, LinearTile* tile) {
  const int8_t* w = static_cast<const int8_t*>(operands[2]);
  const ChannelBlock* block = static_cast<const ChannelBlock*>(operands[3]);
  RUSH_ROLLED for (uint32_t left = p.out_features; left != 0; left -= tile->count) {
    tile->count = left < 4 ? left : 4;
    w = Isa::dot(tile, w);
    Isa::store(*block++, p.codes, &tile->sums, tile->count);
  }
}

template <class Isa>
void walk_linear(const LinearParams& p, void* const* operands, Band band) {
  LinearTile tile;
  tile.features = p.in_features;
  tile.sums.stride = 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    tile.x = static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    tile.sums.out = static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    RUSH_ROLLED for (uint32_t left = p.positions; left != 0; --left) {
      walk_outputs<Isa>(p, operands, &tile);
      tile.x += p.in_features;
    }
  }
}

}  // namespace rush
#endif
