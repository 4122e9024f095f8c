// SPDX-License-Identifier: Apache-2.0
//
// One channel of a block of any width, for the variants without predication.
#ifndef RUSHLIGHT_OPS_DEPTHWISE_CONV2D_LANE_H
#define RUSHLIGHT_OPS_DEPTHWISE_CONV2D_LANE_H

#include "../conv2d/conv2d_dot_scalar.h"
#include "depthwise_conv2d_walk.h"

namespace rush {

inline int32_t dot_lane(const DepthwiseConv2dParams& p, const DepthwiseTile<4>& tile, const int8_t* w, uint32_t lane) {
  const ConvGeometry& g = p.geometry;
  uint32_t sum = 0;
  RUSH_ROLLED for (uint32_t i = 0; i < g.kernel_height; ++i) {
    TapCursor at = window_row(p, tile, i);
    RUSH_ROLLED for (uint32_t left = g.kernel_width; left != 0; --left) {
      sum += wrapping(at.channels(tile.in, tile.outside)[lane] * w[lane]);
      w += tile.width;
      at.offset += static_cast<uint32_t>(g.dilation_width) * p.channels;
      at.column += g.dilation_width;
    }
  }
  return static_cast<int32_t>(sum);
}

}  // namespace rush
#endif
