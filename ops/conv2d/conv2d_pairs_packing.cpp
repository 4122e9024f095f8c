// SPDX-License-Identifier: Apache-2.0
//
// Weights of conv2d_pairs_s8: block by block of outputs, pair by pair of inputs, 8 bytes each. A word holds two inputs
// of two outputs, interleaved, so that SXTB16 takes out the first output's pair; the word itself is 256 times the
// second's plus the first's. Lanes are those sums, so the byte after a negative one is one less than its weight.
#include "ops/conv2d/conv2d_pairs_packing.h"

#include <algorithm>

#include "ops/conv2d/conv2d_pairs.h"

namespace rush {
namespace {

const Conv2dPairsParams& params_of(const void* params) { return *static_cast<const Conv2dPairsParams*>(params); }

size_t packed_count(Isa isa, const void* params) {
  const Conv2dPairsParams& p = params_of(params);
  if (isa == Isa::kScalar) return conv2d_s8_host.packing.packed_count(isa, &p.conv);
  return size_t{weight_blocks(p)} * window_pairs(pair_segments(p)) * 8;
}

/// Input `half` (0 or 1) of pair i, or -1. Four neighbouring bytes of a segment make pairs 0, 2 and 1, 3, as SXTB16
/// does.
int64_t input_of(const PairSegments& s, size_t i, size_t half) {
  const size_t each = (s.bytes + 1) / 2, segment = i / each, pair = i % each, whole = s.bytes / 4 * 2;
  const size_t in_segment = pair < whole ? pair / 2 * 4 + pair % 2 + 2 * half : 2 * pair + half;
  if (segment >= s.count || in_segment >= s.bytes) return -1;
  return static_cast<int64_t>(segment * s.bytes + in_segment);
}

int64_t index(Isa isa, const void* params, size_t i) {
  const Conv2dPairsParams& p = params_of(params);
  if (isa == Isa::kScalar) return conv2d_s8_host.packing.index(isa, &p.conv, i);
  const PairSegments s = pair_segments(p);
  const size_t pairs = window_pairs(s), byte = i % 8, lane = byte % 2, word = byte / 4;
  const size_t block = i / 8 / pairs, outputs = block_outputs(p);
  if (outputs == 2 && lane == 1) return -1;
  const size_t output = block * outputs + (outputs == 2 ? word : word * 2 + lane);
  const int64_t input = input_of(s, i / 8 % pairs, byte / 2 % 2);
  return output < p.conv.out_channels && input >= 0 ? static_cast<int64_t>(output * s.count * s.bytes) + input : -1;
}

/// Of every first output, w + 128 is stored: its sign bit inverted.
uint8_t inverted(Isa isa, const void* params, size_t i) {
  if (isa == Isa::kScalar) return conv2d_s8_host.packing.inverted(isa, &params_of(params).conv, i);
  return i % 2 == 0 ? 0x80 : 0;
}

/// Scratch above which a tile has one position.
constexpr uint32_t kMostScratch = 16384;

}  // namespace

Conv2dPairsParams pairs_params(const Conv2dParams& conv, const FoldedChannels& folded) {
  const bool is_large =
      std::ranges::any_of(folded.channels, [](const FoldedChannel& c) { return c.reach >= int64_t{1} << 23; });
  Conv2dPairsParams params = {.conv = conv,
                              .positions = 2,
                              .block = static_cast<uint8_t>(is_large ? 2 : 4),
                              .whole_rows = conv.geometry.dilation_width == 1 && conv.in_pixel == conv.in_channels,
                              .reserved = 0};
  const bool is_small = 8 * window_pairs(pair_segments(params)) <= kMostScratch;
  if (!is_small || conv.geometry.out_height * conv.geometry.out_width == 1) params.positions = 1;
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
    .stack_bytes = 448};

}  // namespace rush
