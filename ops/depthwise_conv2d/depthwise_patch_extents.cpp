// SPDX-License-Identifier: Apache-2.0
#include "depthwise_patch.h"

namespace rush {
namespace {

/// All but the scratch.
bool extents_of(const DepthwiseConv2dParams& p, Extents* extents) {
  const uint32_t taps = static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width;
  // Four channels are read as a word.
  if (((p.channels | p.geometry.in.row_bytes) & 3) != 0 || p.multiplier != 1 || taps > 16) return false;
  if (!depthwise_conv2d_s8_extents(&p, extents)) return false;
  extents->bytes[2] = patch_weights(p.channels);
  return true;
}

bool depthwise_patch_s8_extents(const void* params, Extents* extents) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  extents->bytes[4] = patch_scratch(p.geometry);
  return extents_of(p, extents);
}

bool depthwise_compact_s8_extents(const void* params, Extents* extents) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const uint32_t columns = p.geometry.kernel_width;
  if (p.geometry.kernel_height != 3 || columns > 4 || !depthwise_patch_s8_extents(params, extents)) return false;
  extents->bytes[4] = saturating_add(extents->bytes[4], spread_weights_bytes(p.channels));
  extents->bytes[2] = 3 * columns * p.channels;
  return true;
}

bool depthwise_column_s8_extents(const void* params, Extents* extents) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  // stride_width is a step between patches, though none of the map's.
  if ((g.in_width | g.out_width | g.stride_height | g.stride_width) != 1) return false;
  extents->bytes[4] = column_scratch(g);
  return extents_of(p, extents);
}

}  // namespace

const KernelContract depthwise_patch_s8_contract = {depthwise_patch_s8_extents, sizeof(DepthwiseConv2dParams), 5, 0x12,
                                                    0x1d};
const KernelContract depthwise_compact_s8_contract = {depthwise_compact_s8_extents, sizeof(DepthwiseConv2dParams), 5,
                                                      0x12, 0x19};
const KernelContract depthwise_column_s8_contract = {depthwise_column_s8_extents, sizeof(DepthwiseConv2dParams), 5,
                                                     0x12, 0x1d};

}  // namespace rush
