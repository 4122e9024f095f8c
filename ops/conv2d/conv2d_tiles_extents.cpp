// SPDX-License-Identifier: Apache-2.0
#include "conv2d_tiles.h"

namespace rush {
namespace {

bool tile_extents(const Conv2dParams& p, const ConvSegments& segments, Extents* extents) {
  if (!conv2d_s8_extents(&p, extents) || p.codes.left_shift != 0 || p.out_pixel >= 0x8000u) return false;
  const uint32_t bytes = saturating_multiply(segments.count, segments.bytes);
  if (bytes == 0 || bytes > kTileLongestWindow) return false;
  extents->bytes[2] = saturating_multiply(tile_window_bytes(segments), 4 * channel_blocks(p.out_channels));
  extents->bytes[4] = tiles_scratch(p, segments);
  return true;
}

bool conv2d_tiles_s8_extents(const void* params, Extents* extents) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  const ConvSegments segments = conv2d_segments(p);
  return segments.count == 1 && tile_extents(p, segments, extents);
}

bool conv2d_rows_s8_extents(const void* params, Extents* extents) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  const ConvSegments segments = conv2d_segments(p);
  return has_tile_rows(segments) && tile_extents(p, segments, extents);
}

}  // namespace

const KernelContract conv2d_tiles_s8_contract = {conv2d_tiles_s8_extents, sizeof(Conv2dParams), 5, 0x12, 0x18};
const KernelContract conv2d_rows_s8_contract = {conv2d_rows_s8_extents, sizeof(Conv2dParams), 5, 0x12, 0x18};

}  // namespace rush
