// SPDX-License-Identifier: Apache-2.0
//
// Four channels at a time: SXTB16 makes halfwords of a word of inputs and of weights, SMLABB and SMLATT multiply them
// lane by lane.
#include <arm_acle.h>

#include "../conv2d/conv2d_dot_dsp.h"
#include "depthwise_conv2d.h"
#include "depthwise_conv2d_lane.h"
#include "depthwise_conv2d_walk.h"

namespace rush {
namespace {

struct DspDepthwise {
  enum : uint32_t { kWidest = 4 };

  static void dot_four(const DepthwiseConv2dParams& p, DepthwiseTile<4>* tile, const int8_t* w) {
    const ConvGeometry& g = p.geometry;
    const uint32_t step = static_cast<uint32_t>(g.dilation_width) * p.channels;
    int32_t a = 0, b = 0, c = 0, d = 0;
    RUSH_ROLLED for (uint32_t i = 0; i < g.kernel_height; ++i) {
      TapCursor at = window_row(p, *tile, i);
      RUSH_ROLLED for (uint32_t left = g.kernel_width; left != 0; --left) {
        const BytePairs x = load_pairs(at.channels(tile->in, tile->outside)), v = load_pairs(w);
        a = __smlabb(x.even, v.even, a);
        b = __smlabb(x.odd, v.odd, b);
        c = __smlatt(x.even, v.even, c);
        d = __smlatt(x.odd, v.odd, d);
        w += 4;
        at.offset += step;
        at.column += g.dilation_width;
      }
    }
    tile->sums[0] = a;
    tile->sums[1] = b;
    tile->sums[2] = c;
    tile->sums[3] = d;
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

void depthwise_conv2d_s8_dsp(const void* params, void* const* operands, Band band) {
  walk_depthwise<DspDepthwise>(*static_cast<const DepthwiseConv2dParams*>(params), operands, band);
}

}  // namespace rush
