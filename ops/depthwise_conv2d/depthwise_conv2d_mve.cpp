// SPDX-License-Identifier: Apache-2.0
//
// Up to eight channels at a time. Loads widen to halfwords; VMULLB and VMULLT multiply even and odd lanes to words, and
// VST2 brings the sums into order.
#include <arm_mve.h>

#include "../conv2d/conv2d_channels_mve.h"
#include "depthwise_conv2d.h"
#include "depthwise_conv2d_walk.h"

namespace rush {
namespace {

inline int16x8_t load_channels(const int8_t* from) { return vldrbq_s16(from); }
inline int16x8_t load_channels(const int8_t* from, mve_pred16_t live) { return vldrbq_z_s16(from, live); }

/// `Live` is nothing for a full block, the predicate of its channels for the last one.
template <class... Live>
__attribute__((noinline)) const int8_t* dot_block(const DepthwiseConv2dParams& p, DepthwiseTile<8>* tile,
                                                  const int8_t* w, Live... live) {
  const ConvGeometry& g = p.geometry;
  const uint32_t step = static_cast<uint32_t>(g.dilation_width) * p.channels;
  int32x4x2_t sums = {{vdupq_n_s32(0), vdupq_n_s32(0)}};
  RUSH_ROLLED for (uint32_t i = 0; i < g.kernel_height; ++i) {
    TapCursor at = window_row(p, *tile, i);
    RUSH_ROLLED for (uint32_t left = g.kernel_width; left != 0; --left) {
      const int16x8_t x = load_channels(at.channels(tile->in, tile->outside), live...), v = load_channels(w, live...);
      sums.val[0] = vaddq_s32(sums.val[0], vmullbq_int_s16(x, v));
      sums.val[1] = vaddq_s32(sums.val[1], vmulltq_int_s16(x, v));
      w += tile->width;
      at.offset += step;
      at.column += g.dilation_width;
    }
  }
  vst2q_s32(tile->sums, sums);
  return w;
}

struct MveDepthwise {
  enum : uint32_t { kWidest = 8 };

  static const int8_t* dot(const DepthwiseConv2dParams& p, DepthwiseTile<8>* tile, const int8_t* w) {
    return tile->width == 8 ? dot_block(p, tile, w) : dot_block(p, tile, w, vctp16q(tile->width));
  }

  static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count) {
    store_codes_mve(block, codes, sums, count);
  }
};

}  // namespace

void depthwise_conv2d_s8_mve(const void* params, void* const* operands, Band band) {
  walk_depthwise<MveDepthwise>(*static_cast<const DepthwiseConv2dParams*>(params), operands, band);
}

}  // namespace rush
