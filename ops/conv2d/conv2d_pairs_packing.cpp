// SPDX-License-Identifier: Apache-2.0
//
// Weights of conv2d_pairs_s8: two outputs after two outputs, pair by pair of inputs, 4 bytes each. A word holds two
// inputs of two outputs, interleaved, so that SXTB16 takes out the first output's pair and, after a rotation, the
// second's. Shared, the word itself is 256 times the second's plus the first's, which UXTB16 takes out: the first's are
// 128 larger, so that no lane borrows from the other.
#include "ops/conv2d/conv2d_pairs_packing.h"

#include <algorithm>

#include "ops/conv2d/conv2d_pairs.h"

namespace rush {
namespace {

const Conv2dPairsParams& params_of(const void* params) { return *static_cast<const Conv2dPairsParams*>(params); }

size_t packed_count(Isa isa, const void* params) {
  const Conv2dPairsParams& p = params_of(params);
  if (isa == Isa::kScalar) return conv2d_s8_host.packing.packed_count(isa, &p.conv);
  return size_t{channel_blocks(p.conv.out_channels)} * pairs_layout(p).pairs * 8;
}

/// Input `half` (0 or 1) of pair i, or -1. Four neighbouring bytes of a segment make pairs 1, 3 and 0, 2, as SXTB16
/// does.
int64_t input_of(const PairSegments& s, size_t i, size_t half) {
  const size_t each = (s.bytes + 1) / 2, segment = i / each, pair = i % each, whole = s.bytes / 4 * 2;
  const size_t in_segment = pair < whole ? pair / 2 * 4 + 1 - pair % 2 + 2 * half : 2 * pair + half;
  if (segment >= s.count || in_segment >= s.bytes) return -1;
  return static_cast<int64_t>(segment * s.bytes + in_segment);
}

int64_t index(Isa isa, const void* params, size_t i) {
  const Conv2dPairsParams& p = params_of(params);
  if (isa == Isa::kScalar) return conv2d_s8_host.packing.index(isa, &p.conv, i);
  const PairsLayout layout = pairs_layout(p);
  const PairSegments& s = layout.segments;
  const size_t pairs = layout.pairs, byte = i % 4, output = i / 4 / pairs * 2 + byte % 2;
  const int64_t input = input_of(s, i / 4 % pairs, byte / 2);
  return output < p.conv.out_channels && input >= 0 ? static_cast<int64_t>(output * s.count * s.bytes) + input : -1;
}

/// Where outputs share, of every first one w + 128 is stored: its sign bit inverted.
uint8_t inverted(Isa isa, const void* params, size_t i) {
  const Conv2dPairsParams& p = params_of(params);
  if (isa == Isa::kScalar) return conv2d_s8_host.packing.inverted(isa, &p.conv, i);
  return p.shared != 0 && i % 2 == 0 ? 0x80 : 0;
}

/// Scratch above which a tile has one position.
constexpr uint32_t kMostScratch = 20480;

}  // namespace

Conv2dPairsParams pairs_params(const Conv2dParams& conv, const FoldedChannels& folded) {
  const auto is_small = [](const FoldedChannel& c) { return c.reach < kPairsReach; };
  const auto fits_four = [&](const FoldedChannel& c) {
    return is_small(c) && c.multiplier.shift >= 1 && c.multiplier.shift <= 22;
  };
  Conv2dPairsParams params = {.conv = conv,
                              .positions = 4,
                              .shared = 0,
                              .whole_rows = conv.geometry.dilation_width == 1 && conv.in_pixel == conv.in_channels,
                              .reserved = 0};
  if (conv.geometry.out_height * conv.geometry.out_width < 4 || conv.out_channels % 2 != 0 ||
      pairs_layout(params).end > kMostScratch || !std::ranges::all_of(folded.channels, fits_four)) {
    params.positions = 1;
    params.shared = std::ranges::all_of(folded.channels, is_small);
  }
  return params;
}

const HostKernel conv2d_pairs_s8_host = {
    .contract = &conv2d_pairs_s8_contract,
    .run = conv2d_pairs_s8_scalar,
    .packing = {.operand = 2,
                .packed_count = packed_count,
                .canonical_count =
                    [](const void* params) { return conv2d_s8_host.packing.canonical_count(&params_of(params).conv); },
                .index = index,
                .inverted = inverted},
    .scratch_operand = 4,
    .scalar_scratch = [](const void* params) { return conv2d_s8_host.scalar_scratch(&params_of(params).conv); },
    .stack_bytes = 448};  // no promise of order: the boards' tests find inputs overwritten

}  // namespace rush
