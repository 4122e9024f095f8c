// SPDX-License-Identifier: Apache-2.0
//
// Every window is unpacked once, to pairs of halfwords that serve all outputs; two windows lie interleaved, so that one
// pointer reads both. A word of weights is an operand of SMLAD twice: as it is, for the second output's sum times 256
// plus the first's, and after UXTB16, for the first's (see conv2d_pairs_packing.cpp). So four outputs of two positions
// take four loads, two UXTB16 and eight SMLAD for sixteen multiply-accumulates. The first output's weights are 128 too
// large, which the window's sum makes good.
#include <arm_acle.h>
#include <string.h>

#include "conv2d_dot_dsp.h"
#include "conv2d_pairs.h"

#if defined(RUSH_ASM) && defined(__GNUC__) && !defined(__clang__)
// The loops are in assembly: the rest had better be small.
#pragma GCC optimize("Os")
#endif

namespace rush {
namespace {

/// Windows whose segments are equally far apart.
struct PairsWindow {
  uint32_t bytes;  ///< of a segment
  uint32_t count;
  uint32_t step;  ///< between segments
};

/// Blocks of four outputs of one or two neighbouring positions.
struct PairsTile {
  const int32_t* x;  ///< pairs of the windows, interleaved
  const int8_t* w;
  const ChannelBlock* block;  ///< first of the blocks; at least one
  const ChannelBlock* end;
  int8_t* out;        ///< of the first position
  uint32_t stride;    ///< from there to the second's
  int32_t rounding;   ///< twice the zero point, plus 1
  uint32_t pairs;     ///< of a window
  int32_t* raw_sums;  ///< not null: one block, and these instead of codes
  int32_t offset[2];  ///< of each position: its window's sum, times -128
  // Tiles of two positions that the loop unpacks itself; none: `x` and `offset` are set.
  const int8_t* from;  ///< where the first window begins
  uint32_t step;       ///< from there to the next
  uint32_t tiles;
  PairsWindow window;
};

// As the loops leave them: for each word of weights, for each position the first output's sum with its bias, then the
// same plus 256 times the second's.
typedef void PairsLoop(const PairsTile* tile);

/// Unpacks a window to every second word from `to` on; returns the sum of what is there.
typedef int32_t UnpackLoop(const int8_t* from, int32_t* to, const PairsWindow* window);

inline uint32_t load_word(const int8_t* from) {
  uint32_t word;
  __builtin_memcpy(&word, from, 4);
  return word;
}

inline void store_pairs(uint32_t word, int32_t* to, uint32_t step) {
  to[0] = __sxtb16(static_cast<int8x4_t>(word));
  to[step] = odd_bytes(word);
}

/// From bytes to pairs that are `step` words apart; returns where the next goes. An odd number ends with half a pair.
inline int32_t* unpack(const int8_t* from, uint32_t bytes, int32_t* to, uint32_t step) {
  RUSH_ROLLED for (; bytes >= 4; bytes -= 4, from += 4, to += 2 * step) store_pairs(load_word(from), to, step);
  RUSH_ROLLED for (; bytes > 1; bytes -= 2, from += 2, to += step) {
    *to = (from[0] & 0xffff) | static_cast<int32_t>(static_cast<uint32_t>(from[1]) << 16);
  }
  if (bytes != 0) {
    *to = from[0];
    to += step;
  }
  return to;
}

/// The sum of pairs that are `step` words apart.
inline int32_t sum_pairs(const int32_t* from, const int32_t* end, uint32_t step) {
  int32_t sum = 0;
  RUSH_ROLLED for (; from != end; from += step) sum = __smlad(*from, 0x10001, sum);
  return sum;
}

}  // namespace

#if defined(RUSH_ASM)

extern "C" PairsLoop rush_conv2d_pairs_one, rush_conv2d_pairs_two;
extern "C" UnpackLoop rush_conv2d_pairs_unpack;

namespace {
enum : bool { kStoresCodes = true };
}

#else

namespace {

enum : bool { kStoresCodes = false };

template <uint32_t kPositions>
void sum_word(const PairsTile& tile, const int8_t* w, const int32_t* bias, int32_t* sums) {
  int32_t first[kPositions], both[kPositions];
  for (uint32_t i = 0; i < kPositions; ++i) {
    first[i] = static_cast<int32_t>(static_cast<uint32_t>(bias[0]) + static_cast<uint32_t>(tile.offset[i]));
    both[i] = static_cast<int32_t>(static_cast<uint32_t>(first[i]) + (static_cast<uint32_t>(bias[1]) << 8));
  }
  const int32_t* x = tile.x;
  RUSH_ROLLED for (const int32_t* const end = x + tile.pairs * kPositions; x != end; x += kPositions, w += 8) {
    int32_t word;
    __builtin_memcpy(&word, w, 4);
    for (uint32_t i = 0; i < kPositions; ++i) {
      first[i] = __smlad(static_cast<int16x2_t>(__uxtb16(static_cast<uint8x4_t>(word))), x[i], first[i]);
      both[i] = __smlad(word, x[i], both[i]);
    }
  }
  for (uint32_t i = 0; i < kPositions; ++i) {
    sums[2 * i] = first[i];
    sums[2 * i + 1] = both[i];
  }
}

void rush_conv2d_pairs_one(const PairsTile* tile) {
  sum_word<1>(*tile, tile->w, tile->block->bias, tile->raw_sums);
  sum_word<1>(*tile, tile->w + 4, tile->block->bias + 2, tile->raw_sums + 2);
}

void rush_conv2d_pairs_two(const PairsTile* tile) {
  sum_word<2>(*tile, tile->w, tile->block->bias, tile->raw_sums);
  sum_word<2>(*tile, tile->w + 4, tile->block->bias + 2, tile->raw_sums + 4);
}

int32_t rush_conv2d_pairs_unpack(const int8_t* from, int32_t* to, const PairsWindow* window) {
  const int32_t* const first = to;
  RUSH_ROLLED for (uint32_t left = window->count; left != 0; --left, from += window->step) {
    to = unpack(from, window->bytes, to, 2);
  }
  return sum_pairs(first, to, 2);
}

}  // namespace

#endif

namespace {

/// What all windows of a map have in common.
struct PairsWalk {
  const Conv2dPairsParams* params;
  const PairsWindow* window;
  uint32_t taps;  ///< of a segment
  const int8_t* in;
  int8_t* stage;  ///< one segment's bytes
  PairsSpare* spare;
  int32_t outside;   ///< a pair outside the map
  uint32_t columns;  ///< where windows can begin without leaving the map; of all rows if rows do not matter
  uint32_t blocks;   ///< whose codes the loop stores itself
};

__attribute__((noinline)) int32_t* fill(int32_t pair, uint32_t bytes, int32_t* to, uint32_t step) {
  RUSH_ROLLED for (uint32_t left = (bytes + 1) >> 1; left != 0; --left, to += step)* to = pair;
  return to;
}

/// A segment that the map may cut; outside of it, `row` is null.
__attribute__((noinline)) int32_t* unpack_cut(const PairsWalk& walk, const int8_t* row, int32_t x, int32_t* to,
                                              uint32_t step) {
  const Conv2dParams& p = walk.params->conv;
  const int32_t taps = static_cast<int32_t>(walk.taps);
  const int32_t before = row == nullptr ? taps : clamp_to(-x, 0, taps);
  const int32_t inside = row == nullptr ? 0 : clamp_to(p.geometry.in_width - x, before, taps) - before;
  if (inside == 0) return fill(walk.outside, walk.window->bytes, to, step);
  const uint32_t before_bytes = static_cast<uint32_t>(before) * p.in_channels;
  const uint32_t inside_bytes = static_cast<uint32_t>(inside) * p.in_channels;
  const int8_t* from = row + (x + before) * p.in_pixel;
  uint32_t bytes = inside_bytes;
  if (window_is_staged(*walk.params)) {
    bytes = walk.window->bytes;
    memset(walk.stage, p.zero_point, bytes);
    // Not memcpy: an image that nobody compiled may let them overlap.
    memmove(walk.stage + before_bytes, from, inside_bytes);
    from = walk.stage;
  } else {
    to = fill(walk.outside, before_bytes, to, step);
  }
  to = unpack(from, bytes, to, step);
  return bytes == walk.window->bytes ? to
                                     : fill(walk.outside, walk.window->bytes - before_bytes - inside_bytes, to, step);
}

/// The input position of a window's first tap, and how many outputs of its row are left.
struct PairsCursor {
  int32_t y;
  int32_t x;
  uint32_t left;
  const int8_t* row;  ///< where row y lies, if windows of it can be unpacked by the loop
};

/// To the first window of a row of outputs.
__attribute__((noinline)) void to_row(const PairsWalk& walk, int32_t y, PairsCursor* at) {
  const ConvGeometry& g = walk.params->conv.geometry;
  const int32_t span = (g.kernel_height - 1) * g.dilation_height;
  at->y = y;
  at->x = -static_cast<int32_t>(g.pad_left);
  at->left = g.out_width;
  at->row = nullptr;
  const bool is_inside = y >= 0 && y + span < g.in_height;
  if (is_inside && (walk.params->whole_rows != 0 || g.kernel_width == 1)) {
    const RowCursor rows = window_rows(g, static_cast<uint32_t>(y));
    // The window must not come back to the start of a ring.
    if (rows.offset + static_cast<uint32_t>(span) * g.in.row_bytes < rows.limit) at->row = walk.in + rows.offset;
  }
}

/// Any window, also one that leaves the map; returns the sum of what is there.
__attribute__((noinline)) int32_t unpack_border(const PairsWalk& walk, const PairsCursor& at, int32_t* to,
                                                uint32_t step) {
  const ConvGeometry& g = walk.params->conv.geometry;
  const int32_t taps = static_cast<int32_t>(walk.taps);
  const int32_t* const first = to;
  int32_t y = at.y;
  RUSH_ROLLED for (uint32_t i = g.kernel_height; i != 0; --i, y += g.dilation_height) {
    const bool is_inside = y >= 0 && y < g.in_height;
    const int8_t* const row = is_inside ? walk.in + row_offset(g.in, static_cast<uint32_t>(y)) : nullptr;
    int32_t x = at.x;
    RUSH_ROLLED for (int32_t left = g.kernel_width; left > 0; left -= taps, x += g.dilation_width) {
      to = unpack_cut(walk, row, x, to, step);
    }
  }
  return sum_pairs(first, to, step);
}

inline void to_next(const PairsWalk& walk, PairsCursor* at) {
  const ConvGeometry& g = walk.params->conv.geometry;
  at->x += g.stride_width;
  if (--at->left == 0) to_row(walk, at->y + g.stride_height, at);
}

/// A tile's offset for a window's sum.
inline int32_t offset_of(int32_t sum) { return static_cast<int32_t>(0u - (static_cast<uint32_t>(sum) << 7)); }

/// One window, every second word from `to` on; returns its offset.
inline int32_t unpack_window(const PairsWalk& walk, const PairsCursor& at, int32_t* to) {
  if (at.row == nullptr || static_cast<uint32_t>(at.x) >= walk.columns)
    return offset_of(unpack_border(walk, at, to, 2));
  return offset_of(rush_conv2d_pairs_unpack(at.row + at.x * walk.params->conv.in_pixel, to, walk.window));
}

/// The sum of output `lane` of a block's four from what a loop left of one position.
int32_t sum_of(const int32_t* raw_sums, uint32_t lane, uint32_t positions) {
  const int32_t* const sum = raw_sums + (lane >> 1) * 2 * positions + (lane & 1);
  if ((lane & 1) == 0) return *sum;
  return static_cast<int32_t>(static_cast<uint32_t>(sum[0]) - static_cast<uint32_t>(sum[-1])) >> 8;
}

/// The outputs from `first` on, block by block: whatever the codes, and fewer than four outputs at the end.
__attribute__((noinline)) void store_blocks(const PairsWalk& walk, PairsTile* tile, uint32_t first, bool is_two) {
  const Conv2dPairsParams& p = *walk.params;
  const int8_t* const w = tile->w;
  const ChannelBlock* const channels = tile->block;
  const ChannelBlock* const end = tile->end;
  const uint32_t outputs = block_outputs(p), positions = is_two ? 2 : 1, lane_step = 4 / outputs;
  // Biases as the loop wants them, which adds them; scales as store_codes does.
  ChannelBlock& block = walk.spare->block;
  tile->raw_sums = walk.spare->raw_sums;
  tile->w += first / outputs * tile->pairs * 8;
  RUSH_ROLLED for (; first < p.conv.out_channels; first += outputs, tile->w += tile->pairs * 8) {
    memset(block.bias, 0, sizeof block.bias);
    RUSH_ROLLED for (uint32_t i = 0; i < outputs; ++i) {
      block.bias[i * lane_step] = channels[first >> 2].bias[(first & 3) + i];
      block.scale[i] = channels[first >> 2].scale[(first & 3) + i];
    }
    tile->block = &block;
    tile->end = tile->block + 1;
    is_two ? rush_conv2d_pairs_two(tile) : rush_conv2d_pairs_one(tile);
    memset(block.bias, 0, sizeof block.bias);
    const uint32_t left = p.conv.out_channels - first;
    RUSH_ROLLED for (uint32_t position = 0; position < positions; ++position) {
      BlockSums sums = {{}, tile->out + first + position * tile->stride, 1};
      RUSH_ROLLED for (uint32_t i = 0; i < outputs; ++i) {
        sums.sum[i] = sum_of(walk.spare->raw_sums + 2 * position, i * lane_step, positions);
      }
      store_codes(block, p.conv.codes, &sums, left < outputs ? left : outputs);
    }
  }
  tile->w = w;
  tile->block = channels;
  tile->end = end;
  tile->raw_sums = nullptr;
}

/// All outputs of the tile's positions.
inline void run_tile(const PairsWalk& walk, PairsTile* tile, bool is_two) {
  if (walk.blocks != 0) is_two ? rush_conv2d_pairs_two(tile) : rush_conv2d_pairs_one(tile);
  if (walk.blocks * 4 != walk.params->conv.out_channels) store_blocks(walk, tile, walk.blocks * 4, is_two);
}

/// As walk_positions, one by one.
__attribute__((noinline)) void walk_singly(const PairsWalk& walk, PairsTile* tile, int32_t* scratch, PairsCursor* at,
                                           uint32_t left) {
  RUSH_ROLLED for (; left != 0; --left, tile->out += tile->stride) {
    scratch[tile->pairs - 1] = 0;
    tile->offset[0] = offset_of(unpack_border(walk, *at, scratch, 1));
    to_next(walk, at);
    run_tile(walk, tile, false);
  }
}

/// How many tiles from the cursor on the loop can unpack itself: windows of one row that lie inside the map.
inline uint32_t whole_tiles(const PairsWalk& walk, const PairsCursor& at) {
  const Conv2dParams& p = walk.params->conv;
  const uint32_t x = static_cast<uint32_t>(at.x);
  if (walk.blocks * 4 != p.out_channels || at.row == nullptr || x >= walk.columns) return 0;
  const uint32_t positions = (walk.columns - 1 - x) / p.geometry.stride_width + 1;
  return (positions < at.left ? positions : at.left) / 2;
}

/// `left` outputs from a cursor on.
void walk_positions(const PairsWalk& walk, PairsTile* tile, int32_t* scratch, PairsCursor* at, uint32_t left) {
  const Conv2dParams& p = walk.params->conv;
  // Where a window has an odd number of pairs, the last one is nothing.
  scratch[2 * tile->pairs - 2] = scratch[2 * tile->pairs - 1] = 0;
  RUSH_ROLLED while (left > 1) {
    tile->tiles = whole_tiles(walk, *at);
    uint32_t positions = 2 * tile->tiles;
    if (positions != 0) {
      tile->from = at->row + at->x * p.in_pixel;
      rush_conv2d_pairs_two(tile);
      at->x += static_cast<int32_t>(positions * p.geometry.stride_width);
      at->left -= positions;
      if (at->left == 0) to_row(walk, at->y + p.geometry.stride_height, at);
    } else {
      RUSH_ROLLED for (; positions < 2; ++positions) {
        tile->offset[positions] = unpack_window(walk, *at, scratch + positions);
        to_next(walk, at);
      }
      run_tile(walk, tile, true);
    }
    left -= positions;
    tile->out += positions * p.out_pixel;
  }
  if (left == 0) return;
  if (walk.columns > p.geometry.in_width) {
    at->y += at->x / p.geometry.in_width;
    at->x %= p.geometry.in_width;
  }
  walk_singly(walk, tile, scratch, at, left);
}

/// Where windows are unpacked.
int32_t* scratch_pairs(void* const* operands) {
  return reinterpret_cast<int32_t*>(static_cast<PairsSpare*>(operands[4]) + 1);
}

/// Whether inputs and outputs lie alike, so that rows do not matter.
inline bool is_flat(const ConvGeometry& g, uint32_t in_pixel) {
  const uint32_t ones = g.kernel_height | g.kernel_width | g.stride_height | g.stride_width;
  return ones == 1 && (g.pad_top | g.pad_left) == 0 && g.in.reciprocal == 0 && g.in_width == g.out_width &&
         g.in_height == g.out_height && g.in.row_bytes == g.in_width * in_pixel;
}

}  // namespace

void conv2d_pairs_s8_dsp(const void* params, void* const* operands, Band band) {
  const Conv2dPairsParams& pairs = *static_cast<const Conv2dPairsParams*>(params);
  const Conv2dParams& p = pairs.conv;
  const ConvGeometry& g = p.geometry;
  const OutputCodes& codes = p.codes;
  const PairSegments segments = pair_segments(pairs);
  const uint32_t span = static_cast<uint32_t>(g.kernel_width - 1) * g.dilation_width;
  int32_t* const scratch = scratch_pairs(operands);
  const uint32_t count = window_pairs(segments), zero_point = static_cast<uint32_t>(p.zero_point) & 0xffffu;
  const bool is_plain = codes.min == -128 && codes.max == 127 && codes.left_shift == 0 && pairs.block == 4;
  PairsTile tile = {};
  const PairsWalk walk = {&pairs,
                          &tile.window,
                          segments.taps,
                          static_cast<const int8_t*>(operands[0]),
                          reinterpret_cast<int8_t*>(scratch + (pairs.positions == 1 ? count : 2 * count)),
                          static_cast<PairsSpare*>(operands[4]),
                          static_cast<int32_t>(zero_point * 0x10001u),
                          is_flat(g, p.in_pixel) ? uint32_t{g.in_width} * g.in_height
                          : span < g.in_width    ? g.in_width - span
                                                 : 0,
                          kStoresCodes && is_plain ? p.out_channels / 4u : 0};
  tile.x = scratch;
  tile.w = static_cast<const int8_t*>(operands[2]);
  tile.block = static_cast<const ChannelBlock*>(operands[3]);
  tile.end = tile.block + walk.blocks;
  tile.stride = p.out_pixel;
  tile.rounding = 2 * codes.zero_point + 1;
  tile.pairs = count;
  tile.step = static_cast<uint32_t>(g.stride_width) * p.in_pixel;
  tile.window = {segments.bytes, segments.count, g.dilation_height * g.in.row_bytes};
  // Rows that lie one behind the other are as one.
  const bool is_dense = g.out.reciprocal == 0 && g.out.row_bytes == static_cast<uint32_t>(g.out_width) * p.out_pixel;
  const int32_t rows = is_dense ? band.end - band.begin : 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += rows) {
    tile.out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    PairsCursor at;
    to_row(walk, y * g.stride_height - g.pad_top, &at);
    const uint32_t left = static_cast<uint32_t>(rows) * g.out_width;
    if (is_flat(g, p.in_pixel)) at.left = left;
    pairs.positions == 1 ? walk_singly(walk, &tile, scratch, &at, left)
                         : walk_positions(walk, &tile, scratch, &at, left);
  }
}

}  // namespace rush
