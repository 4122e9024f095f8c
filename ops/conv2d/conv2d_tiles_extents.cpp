// SPDX-License-Identifier: Apache-2.0
#include "conv2d_tiles.h"

namespace rush {
namespace {

/// `scratch` bytes behind the walk. Not less than conv2d_s8 has, which takes the kernels' place on the host.
bool tile_extents(const Conv2dParams& p, const ConvSegments& segments, uint32_t scratch, Extents* extents) {
  if (!conv2d_s8_extents(&p, extents) || p.codes.left_shift != 0 || p.gather > 1) return false;
  const ConvGeometry& g = p.geometry;
  if (p.gather == 0 && (g.dilation_height | g.dilation_width) != 1) return false;
  const uint32_t bytes = saturating_multiply(segments.count, segments.bytes);
  if (bytes == 0 || bytes > kTileLongestWindow) return false;
  const uint32_t needed = saturating_add(kTileWalkBytes, scratch);
  if (extents->bytes[4] < needed) extents->bytes[4] = needed;
  extents->bytes[2] = saturating_multiply(tile_window_bytes(segments), 4 * channel_blocks(p.out_channels));
  return true;
}

bool conv2d_tiles_s8_extents(const void* params, Extents* extents) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  const ConvSegments segments = conv2d_segments(p);
  return segments.count == 1 && segments.bytes != 0 && tile_extents(p, segments, tiles_scratch(p, segments), extents);
}

bool conv2d_rows_s8_extents(const void* params, Extents* extents) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  const ConvSegments segments = conv2d_segments(p);
  return p.in_pixel == p.in_channels && has_tile_rows(segments) &&
         tile_extents(p, segments, tile_ring_bytes(p), extents);
}

}  // namespace

const KernelContract conv2d_tiles_s8_contract = {conv2d_tiles_s8_extents, sizeof(Conv2dParams), 5, 0x12, 0x1c};
const KernelContract conv2d_rows_s8_contract = {conv2d_rows_s8_extents, sizeof(Conv2dParams), 5, 0x12, 0x1c};

}  // namespace rush
