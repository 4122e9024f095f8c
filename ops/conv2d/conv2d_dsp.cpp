// SPDX-License-Identifier: Apache-2.0
//
// Tiles of two pixels by two outputs: eight loads, sixteen multiply-accumulates, by SMLAD.
#include <string.h>

#include "conv2d.h"
#include "conv2d_dot_dsp.h"
#include "conv2d_walk.h"

namespace rush {
namespace {

struct DspConv {
  enum : uint32_t { kPixels = 2 };

  // Not memcpy: an image that nobody compiled may let them overlap.
  static void copy(int8_t* to, const int8_t* from, uint32_t bytes) { memmove(to, from, bytes); }

  static __attribute__((noinline)) const int8_t* dot(ConvTile<2>* tile, const int8_t* w) {
    RUSH_ROLLED for (uint32_t j = 0; j < tile->count; j += 2) {
      const DotTile sums = {tile->sums[0].sum + j, tile->sums[1].sum + j};
      sums.first[0] = sums.first[1] = sums.second[0] = sums.second[1] = 0;
      RowCursor rows = tile->rows;
      RUSH_ROLLED for (uint32_t i = tile->segments.count; i != 0; --i) {
        const int8_t *const x0 = tile->x[0] + rows.offset, *const x1 = tile->x[1] + rows.offset;
        w = j + 1 < tile->count ? dot_two_by_two(x0, x1, w, tile->segments.bytes, sums)
                                : dot_two_by_one(x0, x1, w, tile->segments.bytes, sums);
        rows.next();
      }
    }
    return w;
  }

  static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count) {
    store_codes(block, codes, sums, count);
  }
};

}  // namespace

void conv2d_s8_dsp(const void* params, void* const* operands, Band band) {
  walk_conv2d<DspConv>(*static_cast<const Conv2dParams*>(params), operands, band);
}

}  // namespace rush
