// SPDX-License-Identifier: Apache-2.0
#include "conv2d_pairs.h"

namespace rush {
namespace {

bool conv2d_pairs_s8_extents(const void* params, Extents* extents) {
  const Conv2dPairsParams& pairs = *static_cast<const Conv2dPairsParams*>(params);
  const Conv2dParams& p = pairs.conv;
  const ConvGeometry& g = p.geometry;
  const uint32_t taps = static_cast<uint32_t>(g.kernel_height) * g.kernel_width;
  if (taps >= 0x10000u || !conv_maps_hold(g, channels_of(p), extents)) return false;
  if (pairs.positions != 1 && (p.out_channels & 1) != 0) return false;
  const PairsLayout layout = pairs_layout(pairs);
  extents->bytes[2] = saturating_multiply(layout.pairs, channel_blocks(p.out_channels) * 8);
  extents->bytes[3] = sizeof(ChannelBlock) * channel_blocks(p.out_channels);
  // It can only wrap where the weights are more than any image holds.
  extents->bytes[4] = layout.end;
  return true;
}

}  // namespace

const KernelContract conv2d_pairs_s8_contract = {conv2d_pairs_s8_extents, sizeof(Conv2dPairsParams), 5, 0x12, 0x1c};

}  // namespace rush
