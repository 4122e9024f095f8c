// SPDX-License-Identifier: Apache-2.0
//
// Every window is unpacked once, to pairs of halfwords that serve all outputs; SMLAD multiplies two pairs. Four
// positions make three words a pair, 255 * high + low of two positions each: a = s0 + 255 s1, b = s2 + 255 s0 and
// c = s3 + 255 s2. Three multiplies for the products of four: the high part of c is nearly s2, which with b is nearly
// s0, and a multiple of 255 away from a there is only one s0 near enough. So two outputs of four positions take four
// loads, two SXTB16 and six SMLAD for sixteen multiply-accumulates.
//
// A position of its own is combined on the other side: a word of weights is an operand of SMLAD twice, as it is, for
// 256 times the second output's sum plus the first's, and after UXTB16, for the first's. Those weights are 128 too
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

/// Where a tile's windows lie, in the map or gathered.
struct PairsWindows {
  uint32_t bytes;  ///< of a segment
  uint32_t count;  ///< of segments; at least one
  uint32_t gap;    ///< from a segment's end to the next
};

/// One position, or one or more times four.
struct PairsTile {
  const int8_t* from;  ///< the first window
  uint32_t step;       ///< from there to the next position's
  int32_t* x;          ///< pairs of the windows
  const int8_t* w;
  const ChannelBlock* block;
  int8_t* out;       ///< of the first position
  uint32_t stride;   ///< from there to the next
  int32_t rounding;  ///< twice the zero point, plus 1
  uint32_t pairs;    ///< of a window
  uint32_t outputs;  ///< pairs of outputs for four positions, blocks of four for one; at least one
  PairsWindows windows;
  uint32_t tiles;     ///< of four positions
  int32_t* raw_sums;  ///< one position only; not null: one block, and its sums instead of codes
  int32_t offset;     ///< one position only: what sums of first outputs are to be added
  uint32_t shared;    ///< one position only
};

typedef void PairsLoop(const PairsTile* tile);

/// The last bytes of a segment, two if there are, as bytes 0 and 2 of a word.
inline uint32_t load_last(const int8_t* from, bool is_two) {
  const uint32_t first = static_cast<uint8_t>(from[0]);
  return is_two ? first | static_cast<uint32_t>(static_cast<uint8_t>(from[1])) << 16 : first;
}

}  // namespace

#if defined(RUSH_ASM)

extern "C" PairsLoop rush_conv2d_pairs_one, rush_conv2d_pairs_four;

#else

namespace {

inline int32_t add_modulo(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

/// 255 * high + low of bytes 0 and 2.
inline int32_t chain(uint32_t low, uint32_t high) {
  const int16x2_t bytes = __sxtb16(static_cast<int8x4_t>(high));
  const int16x2_t times_255 = __ssub16(static_cast<int16x2_t>(high << 8 & 0xff00ff00u), bytes);
  return __sxtab16(times_255, static_cast<int8x4_t>(low));
}

inline int32_t* store_chain(const uint32_t* words, int32_t* to) {
  to[0] = chain(words[0], words[1]);
  to[1] = chain(words[2], words[0]);
  to[2] = chain(words[3], words[2]);
  return to + 3;
}

/// Four windows to chains.
void unpack_four(const PairsTile& tile, const int8_t* from) {
  int32_t* to = tile.x;
  RUSH_ROLLED for (uint32_t left = tile.windows.count; left != 0; --left, from += tile.windows.gap) {
    uint32_t bytes = tile.windows.bytes, words[4];
    RUSH_ROLLED for (; bytes >= 4; bytes -= 4, from += 4) {
      for (uint32_t i = 0; i < 4; ++i) words[i] = load_word(from + i * tile.step);
      to = store_chain(words, to);
      for (uint32_t i = 0; i < 4; ++i) words[i] >>= 8;
      to = store_chain(words, to);
    }
    RUSH_ROLLED while (bytes != 0) {
      const uint32_t last = bytes > 1 ? 2 : 1;
      for (uint32_t i = 0; i < 4; ++i) words[i] = load_last(from + i * tile.step, last == 2);
      to = store_chain(words, to);
      bytes -= last;
      from += last;
    }
  }
}

/// Output `o` of four positions.
void store_four(const PairsTile& tile, uint32_t o, int8_t* out) {
  const ChannelBlock& block = tile.block[o >> 2];
  const int8_t* w = tile.w + (o >> 1) * tile.pairs * 4 + (o & 1);
  const int32_t start = static_cast<int32_t>(static_cast<uint32_t>(block.bias[o & 3]) << 8);
  int32_t a = start, b = start, c = start;
  const int32_t* x = tile.x;
  RUSH_ROLLED for (const int32_t* const end = x + 3 * tile.pairs; x != end; x += 3, w += 4) {
    const int16x2_t pair = __sxtb16(static_cast<int8x4_t>((w[0] & 0xff) | static_cast<uint32_t>(w[2]) << 16));
    a = __smlad(pair, x[0], a);
    b = __smlad(pair, x[1], b);
    c = __smlad(pair, x[2], c);
  }
  constexpr int32_t kReciprocal = 0x01010101;  // (2^32 - 1) / 255
  const int32_t nearly = multiply_high(b - multiply_high(c, kReciprocal), kReciprocal);
  const int32_t s1 = static_cast<int32_t>((int64_t{a - nearly} * kReciprocal + 0x80000000) >> 32);
  const int32_t s0 = a - 255 * s1, s2 = b - 255 * s0, s3 = c - 255 * s2;
  const int32_t sums[4] = {s0, s1, s2, s3}, scale = block.scale[o & 3];
  for (uint32_t i = 0; i < 4; ++i, out += tile.stride) *out = plain_code(sums[i], scale, tile.rounding);
}

void rush_conv2d_pairs_four(const PairsTile* tile) {
  int8_t* out = tile->out;
  RUSH_ROLLED for (uint32_t i = 0; i < tile->tiles; ++i, out += 4 * tile->stride) {
    unpack_four(*tile, tile->from + 4 * i * tile->step);
    RUSH_ROLLED for (uint32_t o = 0; o < 2 * tile->outputs; ++o) { store_four(*tile, o, out + o); }
  }
}

/// Two outputs of one position.
void sum_two(const PairsTile& tile, const int8_t* w, const int32_t* bias, int32_t* sums) {
  int32_t first = add_modulo(bias[0], tile.offset), second = bias[1];
  const int32_t* x = tile.x;
  RUSH_ROLLED for (const int32_t* const end = x + tile.pairs; x != end; ++x, w += 4) {
    const uint32_t word = load_word(w);
    const int16x2_t even = tile.shared != 0 ? static_cast<int16x2_t>(__uxtb16(static_cast<uint8x4_t>(word)))
                                            : __sxtb16(static_cast<int8x4_t>(word));
    first = __smlad(even, *x, first);
    second = __smlad(odd_bytes(word), *x, second);
  }
  sums[0] = first;
  sums[1] = second;
}

void rush_conv2d_pairs_one(const PairsTile* tile) {
  const ChannelBlock* block = tile->block;
  const int8_t* w = tile->w;
  int8_t* out = tile->out;
  RUSH_ROLLED for (uint32_t left = tile->outputs; left != 0; --left, w += 8 * tile->pairs, ++block, out += 4) {
    int32_t sums[4];
    sum_two(*tile, w, block->bias, sums);
    sum_two(*tile, w + 4 * tile->pairs, block->bias + 2, sums + 2);
    if (tile->raw_sums != nullptr) {
      memcpy(tile->raw_sums, sums, sizeof sums);
      return;
    }
    for (uint32_t i = 0; i < 4; ++i) out[i] = plain_code(sums[i], block->scale[i], tile->rounding);
  }
}

}  // namespace

#endif

namespace {

/// What all windows of a map have in common.
struct PairsWalk {
  const Conv2dPairsParams* params;
  const int8_t* in;
  PairsSpare* spare;
  int8_t* gathered;  ///< windows that do not lie in the map as they are
  PairSegments segments;
  uint32_t gap;      ///< in the map, from a segment's end to the next
  uint32_t columns;  ///< where windows can begin without leaving the map; of all rows if rows do not matter
  bool fours;        ///< four positions at a time
  uint32_t blocks;   ///< whose codes the loop stores itself, of one position
  uint32_t rest;     ///< the first output that it does not
};

/// The codes from walk.rest on, whatever they are, and of fewer than four outputs at the end.
__attribute__((noinline)) void store_rest(const PairsWalk& walk, PairsTile* tile) {
  const Conv2dParams& p = walk.params->conv;
  const int8_t* const w = tile->w;
  const ChannelBlock* const blocks = tile->block;
  const uint32_t outputs = tile->outputs;
  // Biases are added with the scales.
  memset(&walk.spare->block, 0, sizeof walk.spare->block);
  tile->raw_sums = walk.spare->raw_sums;
  tile->block = &walk.spare->block;
  tile->outputs = 1;
  RUSH_ROLLED for (uint32_t first = walk.rest; first < p.out_channels; first += 4) {
    tile->w = w + first * tile->pairs * 2;
    rush_conv2d_pairs_one(tile);
    BlockSums sums = {{}, tile->out + first, 1};
    memcpy(sums.sum, tile->raw_sums, sizeof sums.sum);
    const uint32_t left = p.out_channels - first;
    store_codes(blocks[first >> 2], p.codes, &sums, left < 4 ? left : 4);
  }
  tile->w = w;
  tile->block = blocks;
  tile->outputs = outputs;
  tile->raw_sums = nullptr;
}

/// The input position of a window's first tap, and how many outputs of its row are left.
struct PairsCursor {
  int32_t y;
  int32_t x;
  uint32_t left;
  const int8_t* row;  ///< where row y lies, if windows of it may lie in the map as they are
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

inline void advance(const PairsWalk& walk, PairsCursor* at, uint32_t positions) {
  const ConvGeometry& g = walk.params->conv.geometry;
  at->x += static_cast<int32_t>(positions * g.stride_width);
  at->left -= positions;
  if (at->left == 0) to_row(walk, at->y + g.stride_height, at);
}

/// How many windows from the cursor on lie in its row of the map as they are.
inline uint32_t windows_inside(const PairsWalk& walk, const PairsCursor& at) {
  const uint32_t x = static_cast<uint32_t>(at.x);
  if (at.row == nullptr || x >= walk.columns) return 0;
  const uint32_t positions = (walk.columns - 1 - x) / walk.params->conv.geometry.stride_width + 1;
  return positions < at.left ? positions : at.left;
}

// memset and memmove of small C libraries take bytes.
int8_t* fill(uint32_t four, uint32_t bytes, int8_t* to) {
  RUSH_ROLLED for (; bytes >= 4; bytes -= 4, to += 4) __builtin_memcpy(to, &four, 4);
  RUSH_ROLLED for (; bytes != 0; --bytes)* to++ = static_cast<int8_t>(four);
  return to;
}

int8_t* copy(const int8_t* from, uint32_t bytes, int8_t* to) {
  RUSH_ROLLED for (; bytes >= 4; bytes -= 4, from += 4, to += 4) {
    const uint32_t word = load_word(from);
    __builtin_memcpy(to, &word, 4);
  }
  RUSH_ROLLED for (; bytes != 0; --bytes)* to++ = *from++;
  return to;
}

/// A segment that the map may cut; outside of it, `row` is null.
__attribute__((noinline)) int8_t* gather_segment(const PairsWalk& walk, const int8_t* row, int32_t x, int8_t* to) {
  const Conv2dParams& p = walk.params->conv;
  const int32_t taps = static_cast<int32_t>(walk.segments.taps);
  const int32_t before = row == nullptr ? taps : clamp_to(-x, 0, taps);
  const int32_t inside = clamp_to(p.geometry.in_width - x, before, taps) - before;
  const uint32_t outside = static_cast<uint8_t>(p.zero_point) * 0x01010101u;
  int8_t* const end = to + walk.segments.bytes;
  to = fill(outside, static_cast<uint32_t>(before) * p.in_channels, to);
  if (inside != 0) to = copy(row + (x + before) * p.in_pixel, static_cast<uint32_t>(inside) * p.in_channels, to);
  return fill(outside, static_cast<uint32_t>(end - to), to);
}

/// Any window.
__attribute__((noinline)) int8_t* gather_window(const PairsWalk& walk, const PairsCursor& at, int8_t* to) {
  const ConvGeometry& g = walk.params->conv.geometry;
  int32_t y = at.y;
  RUSH_ROLLED for (uint32_t i = g.kernel_height; i != 0; --i, y += g.dilation_height) {
    const bool is_inside = y >= 0 && y < g.in_height;
    const int8_t* const row = is_inside ? walk.in + row_offset(g.in, static_cast<uint32_t>(y)) : nullptr;
    int32_t x = at.x;
    RUSH_ROLLED for (int32_t left = g.kernel_width; left > 0; left -= static_cast<int32_t>(walk.segments.taps)) {
      to = gather_segment(walk, row, x, to);
      x += g.dilation_width;
    }
  }
  return to;
}

/// Gives the tile at least `positions` windows and moves the cursor behind them; returns how many, at most `most` times
/// as many.
uint32_t take_windows(const PairsWalk& walk, PairsTile* tile, PairsCursor* at, uint32_t positions, uint32_t most) {
  const Conv2dParams& p = walk.params->conv;
  const uint32_t inside = windows_inside(walk, *at) / positions;
  tile->windows = {walk.segments.bytes, walk.segments.count, walk.gap};
  if (inside != 0) {
    const uint32_t taken = positions * (inside < most ? inside : most);
    tile->from = at->row + at->x * p.in_pixel;
    tile->step = static_cast<uint32_t>(p.geometry.stride_width) * p.in_pixel;
    advance(walk, at, taken);
    return taken;
  }
  int8_t* to = walk.gathered;
  RUSH_ROLLED for (uint32_t i = 0; i < positions; ++i, advance(walk, at, 1)) to = gather_window(walk, *at, to);
  tile->from = walk.gathered;
  tile->step = walk.segments.bytes * walk.segments.count;
  tile->windows.gap = 0;
  return positions;
}

/// The tile's one window to pairs; returns the sum of its inputs.
int32_t unpack_one(const PairsTile& tile) {
  const int8_t* from = tile.from;
  int32_t* to = tile.x;
  int32_t sum = 0;
  RUSH_ROLLED for (uint32_t left = tile.windows.count; left != 0; --left, from += tile.windows.gap) {
    uint32_t bytes = tile.windows.bytes;
    RUSH_ROLLED for (; bytes >= 4; bytes -= 4, from += 4) {
      const BytePairs pairs = load_pairs(from);
      *to++ = pairs.even;
      *to++ = pairs.odd;
      sum = __smlad(pairs.odd, 0x10001, __smlad(pairs.even, 0x10001, sum));
    }
    RUSH_ROLLED while (bytes != 0) {
      const uint32_t last = bytes > 1 ? 2 : 1;
      *to = __sxtb16(static_cast<int8x4_t>(load_last(from, last == 2)));
      sum = __smlad(*to++, 0x10001, sum);
      bytes -= last;
      from += last;
    }
  }
  return sum;
}

/// `left` outputs from a cursor on, one by one.
__attribute__((noinline)) void walk_singly(const PairsWalk& walk, PairsTile* tile, PairsCursor* at, uint32_t left) {
  tile->x[tile->pairs - 1] = 0;
  tile->outputs = walk.blocks;
  RUSH_ROLLED for (; left != 0; --left, tile->out += tile->stride) {
    take_windows(walk, tile, at, 1, 1);
    const int32_t sum = unpack_one(*tile);
    tile->offset = tile->shared != 0 ? static_cast<int32_t>(0u - (static_cast<uint32_t>(sum) << 7)) : 0;
    if (tile->outputs != 0) rush_conv2d_pairs_one(tile);
    if (walk.rest < walk.params->conv.out_channels) store_rest(walk, tile);
  }
}

/// `left` outputs from a cursor on, four by four.
void walk_fours(const PairsWalk& walk, PairsTile* tile, PairsCursor* at, uint32_t left) {
  // Where a window has an odd number of pairs, the last one is nothing.
  memset(tile->x + 3 * (tile->pairs - 1), 0, 12);
  tile->outputs = walk.params->conv.out_channels / 2;
  RUSH_ROLLED while (left >= 4) {
    const uint32_t taken = take_windows(walk, tile, at, 4, left / 4);
    tile->tiles = taken / 4;
    if (tile->outputs != 0) rush_conv2d_pairs_four(tile);
    tile->out += taken * tile->stride;
    left -= taken;
  }
  walk_singly(walk, tile, at, left);
}

/// Codes that are left to clamp.
__attribute__((noinline)) void narrow_codes(const Conv2dParams& p, int8_t* out, uint32_t positions) {
  RUSH_ROLLED for (; positions != 0; --positions, out += p.out_pixel) {
    RUSH_ROLLED for (uint32_t i = 0; i < p.out_channels; ++i) {
      out[i] = static_cast<int8_t>(clamp_to(out[i], p.codes.min, p.codes.max));
    }
  }
}

/// Rows of outputs; those that lie one behind the other are as one.
void walk_rows(const PairsWalk& walk, PairsTile* tile, int8_t* out, Band band) {
  const Conv2dParams& p = walk.params->conv;
  const ConvGeometry& g = p.geometry;
  const bool is_dense = g.out.reciprocal == 0 && g.out.row_bytes == static_cast<uint32_t>(g.out_width) * p.out_pixel;
  const int32_t rows = is_dense ? band.end - band.begin : 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += rows) {
    int8_t* const row = out + row_offset(g.out, static_cast<uint32_t>(y));
    tile->out = row;
    PairsCursor at;
    to_row(walk, y * g.stride_height - g.pad_top, &at);
    const uint32_t left = static_cast<uint32_t>(rows) * g.out_width;
    if (is_dense_pointwise(p)) at.left = left;
    walk.fours ? walk_fours(walk, tile, &at, left) : walk_singly(walk, tile, &at, left);
    if (!p.codes.are_all()) narrow_codes(p, row, left);
  }
}

}  // namespace

void conv2d_pairs_s8_dsp(const void* params, void* const* operands, Band band) {
  const Conv2dPairsParams& pairs = *static_cast<const Conv2dPairsParams*>(params);
  const Conv2dParams& p = pairs.conv;
  const ConvGeometry& g = p.geometry;
  const uint32_t span = static_cast<uint32_t>(g.kernel_width - 1) * g.dilation_width;
  const bool has_loops = p.codes.left_shift == 0;
  const uint32_t blocks = has_loops ? p.out_channels / 4u : 0;
  PairsSpare* const spare = static_cast<PairsSpare*>(operands[4]);
  PairsWalk walk = {&pairs,
                    static_cast<const int8_t*>(operands[0]),
                    spare,
                    reinterpret_cast<int8_t*>(spare) + pairs_scratch(pairs).windows,
                    pair_segments(pairs),
                    0,
                    0,
                    has_loops && pairs.positions != 1 && p.out_channels > 1,
                    blocks,
                    blocks * 4};
  walk.gap = g.dilation_height * g.in.row_bytes - walk.segments.bytes;
  if (span < g.in_width) walk.columns = g.in_width - span;
  if (is_dense_pointwise(p)) walk.columns *= g.in_height;
  PairsTile tile = {};
  tile.x = reinterpret_cast<int32_t*>(spare + 1);
  tile.w = static_cast<const int8_t*>(operands[2]);
  tile.block = static_cast<const ChannelBlock*>(operands[3]);
  tile.stride = p.out_pixel;
  tile.rounding = 2 * p.codes.zero_point + 1;
  tile.pairs = window_pairs(walk.segments);
  tile.shared = is_shared(pairs);
  bool is_done;
  RUSH_ROLLED do {
    walk_rows(walk, &tile, static_cast<int8_t*>(operands[1]), band);
    is_done = !walk.fours || (p.out_channels & 1) == 0;
    // Once more for an output that four positions left over.
    walk.fours = false;
    walk.blocks = 0;
    walk.rest = (p.out_channels - 1u) & ~3u;
  }
  while (!is_done);
}

}  // namespace rush
