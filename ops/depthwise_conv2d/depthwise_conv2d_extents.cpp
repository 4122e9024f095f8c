// SPDX-License-Identifier: Apache-2.0
#include "depthwise_conv2d.h"

namespace rush {

bool depthwise_conv2d_s8_extents(const void* params, Extents* extents) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  const uint32_t out = static_cast<uint32_t>(p.channels) * p.multiplier;
  if (out >= 0x10000u) return false;
  extents->bytes[2] = saturating_multiply(static_cast<uint32_t>(g.kernel_height) * g.kernel_width, out);
  extents->bytes[3] = sizeof(ChannelBlock) * channel_blocks(p.channels) * p.multiplier;
  return conv_maps_hold(g, {p.channels, p.channels, out, out}, extents);
}

const KernelContract depthwise_conv2d_s8_contract = {depthwise_conv2d_s8_extents, sizeof(DepthwiseConv2dParams), 4,
                                                     0x02, 0x0c};

}  // namespace rush
