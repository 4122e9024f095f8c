// SPDX-License-Identifier: Apache-2.0
//
// The convolution of the cores with SMLAD (and their linear layer, which is a convolution of 1x1): conv2d_s8 with every
// window unpacked to pairs of halfwords in scratch, once for all outputs.
#ifndef RUSHLIGHT_OPS_CONV2D_PAIRS_H
#define RUSHLIGHT_OPS_CONV2D_PAIRS_H

#include "conv2d.h"

namespace rush {

/// As conv2d_s8, but weights as conv2d_pairs_packing.cpp says and scratch as PairsLayout does.
struct Conv2dPairsParams {
  Conv2dParams conv;  ///< `gather` means something to the scalar variant only
  /// Of a tile: 1, or 4 for any other value. 4 asks for an even number of outputs, that every accumulator's magnitude
  /// is below kPairsReach, that none is shifted left, and that shifts are at most 22.
  uint8_t positions;
  /// Of one position only; else 0. 1: two outputs share a halfword of weights, which asks for the same reach.
  uint8_t shared;
  uint8_t whole_rows;  ///< 1: a segment is a row of a window, whose pixels must be neighbours. 0: it is one pixel
  uint8_t reserved;
};

/// Below it, s0 + 255 s1 stays inside int32, and s0 / 255^2 below 127.
enum : int32_t { kPairsReach = 8000000 };

extern const KernelContract conv2d_pairs_s8_contract;
Kernel conv2d_pairs_s8_scalar, conv2d_pairs_s8_dsp;

/// What a window is unpacked from: `count` segments of `taps` neighbouring pixels' channels.
struct PairSegments {
  uint32_t count;
  uint32_t taps;
  uint32_t bytes;
};

/// Of scratch: words of inputs (one for each pair of one position, three for each pair of four), then as many windows
/// where some cannot be read from the map as they lie.
struct PairsLayout {
  PairSegments segments;
  uint32_t pairs;    ///< of a window: an even number. Segments of an odd length end with half a pair
  uint32_t windows;  ///< bytes before the windows
  uint32_t end;      ///< bytes in all
};

/// Not inlined: one copy serves the kernel and its extents.
inline __attribute__((noinline)) PairsLayout pairs_layout(const Conv2dPairsParams& p) {
  const ConvGeometry& g = p.conv.geometry;
  const uint32_t positions = p.positions == 1 ? 1 : 4, words = p.positions == 1 ? 1 : 3;
  PairsLayout layout = {};
  layout.segments = {g.kernel_height, g.kernel_width, p.conv.in_channels};
  if (p.whole_rows == 0) {
    layout.segments.count *= g.kernel_width;
    layout.segments.taps = 1;
  }
  layout.segments.bytes *= layout.segments.taps;
  layout.pairs = (layout.segments.count * ((layout.segments.bytes + 1) >> 1) + 1) & ~1u;
  layout.windows = layout.end = 4 * words * layout.pairs;
  const bool is_point = (g.kernel_height | g.kernel_width) == 1 && (g.pad_top | g.pad_left) == 0 &&
                        (g.out_height - 1) * g.stride_height < g.in_height &&
                        (g.out_width - 1) * g.stride_width < g.in_width;
  if (!is_point) layout.end += layout.segments.count * layout.segments.bytes * positions;
  return layout;
}

}  // namespace rush
#endif
