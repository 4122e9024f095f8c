// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution by patches, for cores that multiply and add up sixteen bytes at once: a channel's patch of four
// rows and four columns of the map is one vector, and holds the window of one output, or of two that lie below each
// other. Sums come out whole, so that no product needs widening.
#ifndef RUSHLIGHT_OPS_DEPTHWISE_PATCH_H
#define RUSHLIGHT_OPS_DEPTHWISE_PATCH_H

#include "depthwise_conv2d.h"

namespace rush {

/// As depthwise_conv2d_s8, for channels in fours, multiplier 1, dilation 1, codes without left shift and windows of at
/// most 3 rows and 4 columns. Operands: 0 in (4-byte aligned), 1 out, 2 weights (depthwise_patch_packing.cpp), 3
/// channels, 4 scratch (4-byte aligned).
extern const KernelContract depthwise_patch_s8_contract;
Kernel depthwise_patch_s8_scalar, depthwise_patch_s8_mve;

/// The same for maps of one column, stride 1 and windows of at most 15 rows: a patch is sixteen neighbouring rows.
extern const KernelContract depthwise_column_s8_contract;
Kernel depthwise_column_s8_scalar, depthwise_column_s8_mve;

/// depthwise_patch_s8 for windows of 3 rows, with weights in canonical order: each call spreads them in scratch first,
/// or that of the first band.
extern const KernelContract depthwise_compact_s8_contract;
Kernel depthwise_compact_s8_scalar, depthwise_compact_s8_mve;

/// Sixteen weights for each channel, and one zero.
inline uint32_t patch_weights(uint32_t channels) { return channels * 16 + 1; }

/// The part of depthwise_compact_s8's scratch that lies before the patches.
inline uint32_t spread_weights_bytes(uint32_t channels) { return (patch_weights(channels) + 3) & ~uint32_t{3}; }

/// Columns that the patches of `outputs` columns cover, in fours. Below 2^30: windows_hold().
inline uint32_t patch_columns(const ConvGeometry& g, uint32_t outputs) {
  return ((outputs - 1) * g.stride_width + 7) & ~uint32_t{3};
}

/// Bytes of scratch of depthwise_patch_s8: four rows of four channels for each column.
inline uint32_t patch_scratch(const ConvGeometry& g) { return saturating_multiply(patch_columns(g, g.out_width), 16); }

/// The columns of a map of one column lie four rows apart.
inline uint32_t column_patches(const ConvGeometry& g) { return patch_columns(g, (g.out_height + 3u) / 4); }

/// Bytes of scratch of depthwise_column_s8: columns as in depthwise_patch_s8, and a copy of four channels of the rows.
inline uint32_t column_scratch(const ConvGeometry& g) { return column_patches(g) * 16 + (g.out_height + 15u) * 4; }

}  // namespace rush
#endif
