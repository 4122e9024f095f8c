// SPDX-License-Identifier: Apache-2.0
#include "conv2d.h"

namespace rush {

bool conv2d_s8_extents(const void* params, Extents* extents) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  const uint32_t taps = static_cast<uint32_t>(g.kernel_height) * g.kernel_width;
  if (taps >= 0x10000u || p.gather > 1 || !conv_maps_hold(g, channels_of(p), extents)) return false;
  extents->bytes[2] = saturating_multiply(taps * p.in_channels, p.out_channels);
  extents->bytes[3] = sizeof(ChannelBlock) * channel_blocks(p.out_channels);
  // It can only wrap where the weights are more than any image holds.
  if (conv2d_gathers(p)) extents->bytes[4] = 2 * taps * p.in_channels;
  return true;
}

namespace {

bool conv2d_f32_extents(const void* params, Extents* extents) {
  const Conv2dF32Params& p = *static_cast<const Conv2dF32Params*>(params);
  const ConvGeometry& g = p.geometry;
  const uint32_t in = static_cast<uint32_t>(p.groups) * p.group_in, out = static_cast<uint32_t>(p.groups) * p.group_out;
  const uint32_t taps = static_cast<uint32_t>(g.kernel_height) * g.kernel_width;
  if (in == 0 || out == 0 || (in | out | taps) >= 0x4000u || !windows_hold(g)) return false;
  if (((g.in.row_bytes | g.out.row_bytes) & 3u) != 0) return false;
  extents->bytes[0] = map_bytes(g.in, {g.in_height, g.in_width, 4 * in, 4 * in});
  extents->bytes[1] = map_bytes(g.out, {g.out_height, g.out_width, 4 * out, 4 * out});
  extents->bytes[2] = saturating_multiply(taps * p.group_in, 4 * out);
  extents->bytes[3] = 4 * out;
  extents->rows = g.out_height;
  return true;
}

}  // namespace

const KernelContract conv2d_s8_contract = {conv2d_s8_extents, sizeof(Conv2dParams), 5, 0x12, 0x1c};
const KernelContract conv2d_f32_contract = {conv2d_f32_extents, sizeof(Conv2dF32Params), 4, 0x02, 0x0f};

}  // namespace rush
