// SPDX-License-Identifier: Apache-2.0
#include "depthwise_rows.h"

namespace rush {
namespace {

bool depthwise_rows_s8_extents(const void* params, Extents* extents) {
  const DepthwiseConv2dParams& p = static_cast<const DepthwiseRowsParams*>(params)->depthwise;
  const ConvGeometry& g = p.geometry;
  const uint32_t out = static_cast<uint32_t>(p.channels) * p.multiplier;
  const bool is_strided = g.stride_width == 1 || g.stride_width == 2;
  if (g.kernel_height != 3 || g.kernel_width != 3 || (g.dilation_height | g.dilation_width) != 1) return false;
  if (!is_strided || g.stride_height != g.stride_width) return false;
  if (p.channels < 4 || out >= 0x10000u) return false;
  extents->bytes[2] = kRowsChannelWeights * out;
  extents->bytes[3] = sizeof(ChannelBlock) * channel_blocks(p.channels) * p.multiplier;
  extents->bytes[4] = rows_column_pairs(g) * kColumnsBytes;
  return conv_maps_hold(g, {p.channels, p.channels, out, out}, extents);
}

}  // namespace

const KernelContract depthwise_rows_s8_contract = {depthwise_rows_s8_extents, sizeof(DepthwiseRowsParams), 5, 0x12,
                                                   0x1c};

}  // namespace rush
