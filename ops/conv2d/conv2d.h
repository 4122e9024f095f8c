// SPDX-License-Identifier: Apache-2.0
//
// 2-D convolution over NHWC maps: int8 with int32 accumulators modulo 2^32, and float32.
#ifndef RUSHLIGHT_OPS_CONV2D_H
#define RUSHLIGHT_OPS_CONV2D_H

#include "conv2d_channels.h"
#include "conv2d_geometry.h"
#include "rushlight/kernel.h"

namespace rush {

/// out[y, x, o] = clamp(requantize(bias[o] + sum w[o, i, j, c] * in[...]) + zero point), taps outside the map being
/// zero_point. Any sizes >= 1. The channels may be a slice of each map's: pixels are in_pixel and out_pixel bytes
/// apart. Operands: 0 in, 1 out, 2 weights (conv2d_packing.cpp), 3 a ChannelBlock for every four channels, 4 scratch:
/// two windows, untouched unless conv2d_gathers(). Only 0 and 1 may overlap, if they are different slices of one map.
struct Conv2dParams {
  ConvGeometry geometry;  ///< first in all params structs of convolutions
  uint16_t in_pixel;
  uint16_t out_pixel;
  uint16_t in_channels;
  uint16_t out_channels;
  int8_t zero_point;  ///< of the input
  /// 1: every window is gathered in scratch and read as one segment. 0: rows of a window inside the map are read
  /// where they lie, one segment of kernel_width * in_channels bytes each; needs dilation_width 1, and kernel_width 1
  /// or a whole map's channels.
  uint8_t gather;
  OutputCodes codes;
  uint16_t reserved;
};

inline ConvChannels channels_of(const Conv2dParams& p) {
  return {p.in_pixel, p.in_channels, p.out_pixel, p.out_channels};
}

extern const KernelContract conv2d_s8_contract;
ExtentsOf conv2d_s8_extents;
Kernel conv2d_s8_scalar, conv2d_s8_mve;

/// float32, with groups (depthwise too). Sums start at 0 and run over kernel rows, columns, channels, each product
/// rounded; taps outside the map are skipped; the bias comes last. NaN passes the clamp. Operands, all 4-byte aligned:
/// 0 in, 1 out, 2 weights [O,kH,kW,C], 3 bias [O].
struct Conv2dF32Params {
  ConvGeometry geometry;
  uint16_t groups;
  uint16_t group_in;
  uint16_t group_out;
  uint16_t reserved;
  float min;
  float max;
};

extern const KernelContract conv2d_f32_contract;
Kernel conv2d_f32_scalar;

/// The segments of a window: what the weights of one output are split into.
struct ConvSegments {
  uint32_t count;
  uint32_t bytes;
};

inline ConvSegments conv2d_segments(const Conv2dParams& p) {
  const ConvGeometry& g = p.geometry;
  const uint32_t row_bytes = static_cast<uint32_t>(g.kernel_width) * p.in_channels;
  if (p.gather != 0) return {1, g.kernel_height * row_bytes};
  return {g.kernel_height, row_bytes};
}

/// Whether any window is gathered in scratch.
inline bool conv2d_gathers(const Conv2dParams& p) { return p.gather != 0 || windows_leave(p.geometry); }

/// Whether the rows of the maps lie one behind the other, but where a ring begins anew, and positions correspond.
inline bool is_dense_pointwise(const Conv2dParams& p) {
  const ConvGeometry& g = p.geometry;
  const uint32_t ones = g.kernel_height | g.kernel_width | g.stride_height | g.stride_width;
  const uint32_t zeros = g.pad_top | g.pad_left | p.gather;
  return ones == 1 && zeros == 0 && g.in_height == g.out_height && g.in_width == g.out_width &&
         g.in.row_bytes == static_cast<uint32_t>(p.in_pixel) * g.in_width &&
         g.out.row_bytes == static_cast<uint32_t>(p.out_pixel) * g.out_width;
}

/// How many rows from the first of a band on are one long row in both maps of a dense pointwise convolution.
inline int32_t rows_as_one(const ConvGeometry& g, Band band) {
  const int32_t in = rows_in_sequence(g.in, band);
  return rows_in_sequence(g.out, {band.begin, band.begin + in});
}

}  // namespace rush
#endif
