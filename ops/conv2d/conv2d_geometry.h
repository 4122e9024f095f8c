// SPDX-License-Identifier: Apache-2.0
//
// Where the windows of a convolution lie, and the check that they stay inside the maps.
#ifndef RUSHLIGHT_OPS_CONV2D_GEOMETRY_H
#define RUSHLIGHT_OPS_CONV2D_GEOMETRY_H

#include "rushlight/kernel.h"

namespace rush {

/// Output (y, x) reads input rows y * stride_height - pad_top + i * dilation_height, i < kernel_height; columns alike.
/// What lies outside the map counts as the input's zero point. The dilation is 1 along an axis where the kernel is.
struct ConvGeometry {
  Rows in;
  Rows out;
  uint16_t in_height, in_width;
  uint16_t out_height, out_width;
  uint16_t kernel_height, kernel_width;
  uint16_t stride_height, stride_width;
  uint16_t dilation_height, dilation_width;
  uint16_t pad_top, pad_left;
};

/// Walks rows of a map that are `step` bytes apart. A ring has `limit` bytes; a whole map never comes back to its
/// start.
struct RowCursor {
  uint32_t offset;
  uint32_t step;
  uint32_t limit;

  void next() {
    offset += step;
    if (offset >= limit) offset -= limit;
  }
};

/// Place of row y in its map or ring, counted in rows.
inline int32_t row_slot(const Rows& rows, int32_t y) {
  return static_cast<int32_t>(row_offset({1, rows.ring_rows, rows.reciprocal}, static_cast<uint32_t>(y)));
}

/// How many rows from the first of a band on lie one behind the other, before their ring begins anew.
inline int32_t rows_in_sequence(const Rows& rows, Band band) {
  const int32_t left = rows.ring_rows - row_slot(rows, band.begin), wanted = band.end - band.begin;
  return left < wanted ? left : wanted;
}

enum : uint32_t { kNoRing = 0xffffffffu };

/// RowCursor::limit of a map.
inline uint32_t ring_bytes(const Rows& rows) {
  return rows.reciprocal == 0 ? kNoRing : rows.ring_rows * rows.row_bytes;
}

/// From row y of the input down the rows of a window.
inline RowCursor window_rows(const ConvGeometry& g, uint32_t y) {
  return {row_offset(g.in, y), g.dilation_height * g.in.row_bytes, ring_bytes(g.in)};
}

/// A map of which each pixel's first `channel_bytes` are used. Below 2^16 each.
struct MapShape {
  uint32_t height;
  uint32_t width;
  uint32_t pixel_bytes;
  uint32_t channel_bytes;
};

/// For extents(): bytes from a map's first channel to its last, or more than any region has if `rows` cannot hold it.
inline __attribute__((noinline)) uint32_t map_bytes(const Rows& rows, const MapShape& shape) {
  uint32_t bytes;
  const bool holds = map_holds(rows, shape.height, shape.width * shape.pixel_bytes, &bytes);
  if (!holds || shape.pixel_bytes < shape.channel_bytes) return 0xffffffffu;
  // Saturated, or no bytes at all: a map without rows or columns is none.
  return bytes + 1 <= 1 ? 0xffffffffu : bytes - (shape.pixel_bytes - shape.channel_bytes);
}

/// For extents(): whether the rows and columns that windows read can be computed without overflow.
inline bool windows_hold(const ConvGeometry& g) {
  const uint32_t reach = static_cast<uint32_t>(g.out_height) * g.stride_height |
                         static_cast<uint32_t>(g.out_width) * g.stride_width |
                         static_cast<uint32_t>(g.kernel_height) * g.dilation_height |
                         static_cast<uint32_t>(g.kernel_width) * g.dilation_width;
  // RowCursor::next comes back once.
  const bool wraps_once = g.in.reciprocal == 0 || g.dilation_height <= g.in.ring_rows;
  // Rows of a window are read as kernel_width neighbours: no dilation makes them fewer.
  const bool advances = g.stride_height != 0 && g.stride_width != 0 && g.dilation_width != 0;
  return reach < 1u << 29 && wraps_once && advances;
}

/// Bytes of each map's pixels, and of those the channels that are used. Below 2^16 each.
struct ConvChannels {
  uint32_t in_pixel;
  uint32_t in;
  uint32_t out_pixel;
  uint32_t out;
};

/// For extents(): sets what a convolution's maps, operands 0 and 1, take. Not inlined: one copy serves all families.
inline __attribute__((noinline)) bool conv_maps_hold(const ConvGeometry& g, const ConvChannels& c, Extents* extents) {
  extents->bytes[0] = map_bytes(g.in, {g.in_height, g.in_width, c.in_pixel, c.in});
  extents->bytes[1] = map_bytes(g.out, {g.out_height, g.out_width, c.out_pixel, c.out});
  extents->rows = g.out_height;
  // Without channels there would be loops that no memory bounds.
  return c.in != 0 && c.out != 0 && windows_hold(g);
}

/// Whether any window reaches beyond the map, if windows_hold(); else anything.
inline bool windows_leave(const ConvGeometry& g) {
  const auto last = [](uint32_t outputs, uint32_t stride, uint32_t pad, uint32_t taps, uint32_t dilation) {
    return static_cast<int32_t>((outputs - 1) * stride - pad + (taps - 1) * dilation);
  };
  const int32_t bottom = last(g.out_height, g.stride_height, g.pad_top, g.kernel_height, g.dilation_height);
  const int32_t right = last(g.out_width, g.stride_width, g.pad_left, g.kernel_width, g.dilation_width);
  return g.pad_top != 0 || g.pad_left != 0 || bottom >= g.in_height || right >= g.in_width;
}

}  // namespace rush
#endif
