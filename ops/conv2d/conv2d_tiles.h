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
  kTileSegments = 5,       ///< most rows of a window that are read where they lie
  kTileWalkBytes = 272,    ///< scratch before the windows
  kTileWindowBytes = 512,  ///< windows that are gathered at a time fill so much, but are two at least
  kTileLongestWindow = 1 << 24
};

/// As conv2d_s8, with Conv2dParams; but no accumulator is shifted left, out_pixel is below 2^15, and windows are one
/// segment. Scratch is as tiles_scratch() says.
extern const KernelContract conv2d_tiles_s8_contract;
Kernel conv2d_tiles_s8_scalar, conv2d_tiles_s8_mve;

/// The same for windows of several segments, see has_tile_rows(): code that not every model needs.
extern const KernelContract conv2d_rows_s8_contract;
Kernel conv2d_rows_s8_scalar, conv2d_rows_s8_mve;

/// Chunks of a segment.
inline uint32_t tile_chunks(const ConvSegments& segments) { return (segments.bytes + kTileChunk - 1) / kTileChunk; }

/// Whether conv2d_rows_s8 takes windows of these segments: no more than kTileSegments, of three chunks or more each, or
/// three of one.
inline bool has_tile_rows(const ConvSegments& segments) {
  const uint32_t chunks = tile_chunks(segments);
  return segments.count > 1 && segments.count <= kTileSegments && (chunks >= 3 || (chunks == 1 && segments.count == 3));
}

/// A window with its segments made up to whole chunks.
inline uint32_t tile_window_bytes(const ConvSegments& segments) {
  return segments.count * tile_chunks(segments) * kTileChunk;
}

/// How many windows are gathered at a time: an even number.
inline uint32_t tile_windows(const Conv2dParams& p, uint32_t window_bytes) {
  const uint32_t fit = p.gather == 0 ? 2 : kTileWindowBytes / window_bytes;
  return fit < 2 ? 2 : fit & ~1u;
}

/// A segment of a row outside the map, where windows have several.
inline uint32_t tile_outside_bytes(const ConvSegments& segments) {
  return segments.count == 1 ? 0 : tile_chunks(segments) * kTileChunk;
}

/// Bytes of scratch. A window whose last chunk reaches beyond its pixels is gathered where the map ends.
inline uint32_t tiles_scratch(const Conv2dParams& p, const ConvSegments& segments) {
  const uint32_t bytes = tile_window_bytes(segments);
  if (!conv2d_gathers(p) && segments.bytes % kTileChunk == 0) return kTileWalkBytes;
  // The last window may be written one chunk too far.
  return kTileWalkBytes + tile_outside_bytes(segments) + tile_windows(p, bytes) * bytes + kTileChunk;
}

}  // namespace rush
#endif
