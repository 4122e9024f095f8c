// SPDX-License-Identifier: Apache-2.0
//
// The convolution of the cores with SMLAD (and their linear layer, which is a convolution of 1x1): conv2d_s8 with every
// window unpacked to pairs of halfwords in scratch, once for all outputs.
#ifndef RUSHLIGHT_OPS_CONV2D_PAIRS_H
#define RUSHLIGHT_OPS_CONV2D_PAIRS_H

#include "conv2d.h"

namespace rush {

/// What a block of outputs needs that is not full, or has other codes than -128 to 127: in scratch rather than on the
/// stack.
struct PairsSpare {
  ChannelBlock block;
  int32_t raw_sums[8];
};

/// As conv2d_s8, but weights as conv2d_pairs_packing.cpp says and scratch of a PairsSpare, window_pairs() words for
/// each position of a tile, then a segment if window_is_staged().
struct Conv2dPairsParams {
  Conv2dParams conv;  ///< `gather` means something to the scalar variant only
  uint8_t positions;  ///< of a tile: 1, or 2 for any other value
  /// Outputs of a block of weights. 4: two share a halfword of weights, which asks that every accumulator's magnitude
  /// is below 2^23. 2, or any other value: each has halfwords of its own.
  uint8_t block;
  uint8_t whole_rows;  ///< 1: a segment is a row of a window, whose pixels must be neighbours. 0: it is one pixel
  uint8_t reserved;
};

extern const KernelContract conv2d_pairs_s8_contract;
Kernel conv2d_pairs_s8_scalar, conv2d_pairs_s8_dsp;

/// What a window is unpacked from: `count` segments of `taps` neighbouring pixels' channels.
struct PairSegments {
  uint32_t count;
  uint32_t taps;
  uint32_t bytes;
};

inline PairSegments pair_segments(const Conv2dPairsParams& p) {
  const ConvGeometry& g = p.conv.geometry;
  const uint32_t height = g.kernel_height, width = g.kernel_width, channels = p.conv.in_channels;
  if (p.whole_rows != 0) return {height, width, width * channels};
  return {height * width, 1, channels};
}

/// Pairs of a window: an even number. Segments of an odd length end with half a pair.
inline uint32_t window_pairs(const PairSegments& s) { return (s.count * ((s.bytes + 1) >> 1) + 1) & ~1u; }

/// Whether segments that the map cuts are put together in scratch first: pairs would straddle the cut.
inline bool window_is_staged(const Conv2dPairsParams& p) { return (p.conv.in_channels & 3u) != 0; }

inline uint32_t block_outputs(const Conv2dPairsParams& p) { return p.block == 4 ? 4 : 2; }

/// Blocks of weights.
inline uint32_t weight_blocks(const Conv2dPairsParams& p) {
  return channel_blocks(p.conv.out_channels) << (p.block == 4 ? 0 : 1);
}

}  // namespace rush
#endif
