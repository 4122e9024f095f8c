// SPDX-License-Identifier: Apache-2.0
//
// The portable variant: four channels at a time, the rest one by one.
#include "depthwise_conv2d.h"
#include "depthwise_conv2d_lane.h"
#include "depthwise_conv2d_walk.h"

namespace rush {
namespace {

struct ScalarDepthwise {
  enum : uint32_t { kWidest = 4 };

  static void dot_four(const DepthwiseConv2dParams& p, DepthwiseTile<4>* tile, const int8_t* w) {
    const ConvGeometry& g = p.geometry;
    const uint32_t step = static_cast<uint32_t>(g.dilation_width) * p.channels;
    uint32_t a = 0, b = 0, c = 0, d = 0;
    RUSH_ROLLED for (uint32_t i = 0; i < g.kernel_height; ++i) {
      TapCursor at = window_row(p, *tile, i);
      RUSH_ROLLED for (uint32_t left = g.kernel_width; left != 0; --left) {
        const int8_t* const x = at.channels(tile->in, tile->outside);
        a += wrapping(x[0] * w[0]);
        b += wrapping(x[1] * w[1]);
        c += wrapping(x[2] * w[2]);
        d += wrapping(x[3] * w[3]);
        w += 4;
        at.offset += step;
        at.column += g.dilation_width;
      }
    }
    tile->sums[0] = static_cast<int32_t>(a);
    tile->sums[1] = static_cast<int32_t>(b);
    tile->sums[2] = static_cast<int32_t>(c);
    tile->sums[3] = static_cast<int32_t>(d);
  }

  static __attribute__((noinline)) const int8_t* dot(const DepthwiseConv2dParams& p, DepthwiseTile<4>* tile,
                                                     const int8_t* w) {
    if (tile->width == 4) {
      dot_four(p, tile, w);
    } else {
      RUSH_ROLLED for (uint32_t lane = 0; lane < tile->width; ++lane) tile->sums[lane] = dot_lane(p, *tile, w, lane);
    }
    return w + static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width * tile->width;
  }

  static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count) {
    store_codes(block, codes, sums, count);
  }
};

}  // namespace

void depthwise_conv2d_s8_scalar(const void* params, void* const* operands, Band band) {
  walk_depthwise<ScalarDepthwise>(*static_cast<const DepthwiseConv2dParams*>(params), operands, band);
}

}  // namespace rush
