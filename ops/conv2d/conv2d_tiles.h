// SPDX-License-Identifier: Apache-2.0
//
// The convolution of cores with Helium. Each segment of a window is a number of whole chunks of sixteen inputs, and
// outputs come in blocks of four: weights of what is too much are 0 (conv2d_tiles_packing.cpp).
#ifndef RUSHLIGHT_OPS_CONV2D_TILES_H
#define RUSHLIGHT_OPS_CONV2D_TILES_H

#include "conv2d.h"

namespace rush {

enum : uint32_t {
  kTileChunk = 16,
  kTileSegments = 5,        ///< most rows of a window that conv2d_rows_s8 takes
  kTileWalkBytes = 164,     ///< scratch before rows and windows
  kTileWindowBytes = 1024,  ///< windows that are gathered at a time fill so much, but are two at least
  kTileLongestWindow = 1 << 24
};

/// As conv2d_s8, with Conv2dParams; but no accumulator is shifted left, and windows are of one segment, without
/// dilation, or gathered. Scratch is as tiles_scratch() says.
extern const KernelContract conv2d_tiles_s8_contract;
Kernel conv2d_tiles_s8_scalar, conv2d_tiles_s8_mve;

/// The same for windows that has_tile_rows(), of all of the map's channels and without dilation: rows are copied into
/// scratch, borders and all, and windows read there.
extern const KernelContract conv2d_rows_s8_contract;
Kernel conv2d_rows_s8_scalar, conv2d_rows_s8_mve;

/// Chunks of a segment.
inline uint32_t tile_chunks(const ConvSegments& segments) { return (segments.bytes + kTileChunk - 1) / kTileChunk; }

/// Whether there is code for several segments like these.
inline bool has_tile_rows(const ConvSegments& segments) {
  return segments.count > 1 && segments.count <= kTileSegments && tile_chunks(segments) >= 3;
}

/// Whether conv2d_tiles_s8 reads windows where the map lies. Others it reads in the ring.
inline bool tiles_read_map(const Conv2dParams& p) {
  return (p.geometry.kernel_height | p.geometry.kernel_width) == 1 && !conv2d_gathers(p);
}

/// A window with its segments made up to whole chunks.
inline uint32_t tile_window_bytes(const ConvSegments& segments) {
  return segments.count * tile_chunks(segments) * kTileChunk;
}

/// How many windows are gathered at a time: an even number.
inline uint32_t tile_windows(uint32_t window_bytes) {
  const uint32_t fit = kTileWindowBytes / window_bytes;
  return fit < 2 ? 2 : fit & ~1u;
}

/// Pixels of a row in conv2d_rows_s8's and conv2d_tiles_s8's rings: all columns of the map, and those beside it that
/// windows reach.
inline uint32_t tile_ring_pixels(const Conv2dParams& p) {
  const ConvGeometry& g = p.geometry;
  const uint32_t reached = (g.out_width - 1u) * g.stride_width + (g.kernel_width - 1u) * g.dilation_width + 1;
  const uint32_t given = 0u + g.pad_left + g.in_width;
  return reached > given ? reached : given;
}

/// Rows in a ring: from a window's first to its last. Each has a chunk more than its pixels, which may be read beyond.
inline uint32_t tile_ring_rows(const ConvGeometry& g) { return (g.kernel_height - 1u) * g.dilation_height + 1; }

inline uint32_t tile_ring_bytes(const Conv2dParams& p) {
  const uint32_t pitch = saturating_add(saturating_multiply(tile_ring_pixels(p), p.in_channels), kTileChunk);
  return saturating_multiply(pitch, tile_ring_rows(p.geometry));
}

/// Bytes of conv2d_tiles_s8's scratch behind the walk: windows whose last chunk would reach beyond the map, an even
/// number, or the ring and windows.
inline uint32_t tiles_scratch(const Conv2dParams& p, const ConvSegments& segments) {
  const uint32_t bytes = tile_window_bytes(segments);
  if (tiles_read_map(p)) return segments.bytes % kTileChunk == 0 ? 0 : ((kTileChunk - 1) / p.in_channels + 2) * bytes;
  return saturating_add(tile_ring_bytes(p), p.gather == 0 ? 0 : tile_windows(bytes) * bytes);
}

/// The same convolution for conv2d_s8_scalar: what Helium reads in its ring may not lie so in the map.
inline Conv2dParams without_ring(const Conv2dParams& p) {
  const bool contiguous = p.geometry.dilation_width == 1 && p.in_pixel == p.in_channels;
  Conv2dParams scalar = p;
  if (p.geometry.kernel_width > 1 && !contiguous) scalar.gather = 1;
  return scalar;
}

}  // namespace rush
#endif
