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

namespace rush {
namespace {

/// One position, or one or more times four, whose windows lie in the map or are gathered.
struct PairsTile {
  PairsLayout layout;
  uint32_t gap;        ///< from the end of a window's segment to the next
  const int8_t* from;  ///< the first window
  uint32_t step;       ///< from there to the next position's
  int32_t* x;          ///< pairs of the windows
  const int8_t* w;
  const ChannelBlock* block;
  int8_t* out;         ///< of the first position
  uint32_t stride;     ///< from there to the next
  int32_t rounding;    ///< twice the zero point, plus 1
  uint32_t outputs;    ///< an even number for four positions; at least one
  uint32_t positions;  ///< a multiple of four
  // One position only.
  uint32_t left_shift;  ///< 1 if some output is shifted left
  int32_t window_sum;   ///< 128 times that is too much in first outputs' sums, if they are shared
  uint32_t shared;      ///< 1 if two outputs share halfwords of weights
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
  RUSH_ROLLED for (uint32_t left = tile.layout.segments.count; left != 0; --left, from += tile.gap) {
    uint32_t bytes = tile.layout.segments.bytes, words[4];
    RUSH_ROLLED for (; bytes >= 4; bytes -= 4, from += 4) {
      uint32_t odd[4];
      for (uint32_t i = 0; i < 4; ++i) odd[i] = (words[i] = load_word(from + i * tile.step)) >> 8;
      to = store_chain(words, store_chain(odd, to));
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
  const int8_t* w = tile.w + (o >> 1) * tile.layout.pairs * 4 + (o & 1);
  const int32_t start = static_cast<int32_t>(static_cast<uint32_t>(block.bias[o & 3]) << 8);
  int32_t a = start, b = start, c = start;
  const int32_t* x = tile.x;
  RUSH_ROLLED for (const int32_t* const end = x + 3 * tile.layout.pairs; x != end; x += 3, w += 4) {
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
  RUSH_ROLLED for (uint32_t i = 0; i < tile->positions; i += 4, out += 4 * tile->stride) {
    unpack_four(*tile, tile->from + i * tile->step);
    RUSH_ROLLED for (uint32_t o = 0; o < tile->outputs; ++o) { store_four(*tile, o, out + o); }
  }
}

/// Two outputs of one position.
void sum_two(const PairsTile& tile, const int8_t* w, const int32_t* bias, int32_t* sums) {
  const uint32_t excess = tile.shared != 0 ? static_cast<uint32_t>(tile.window_sum) * 128 : 0;
  int32_t first = static_cast<int32_t>(static_cast<uint32_t>(bias[0]) - excess), second = bias[1];
  const int32_t* x = tile.x;
  RUSH_ROLLED for (const int32_t* const end = x + tile.layout.pairs; x != end; ++x, w += 4) {
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
  const OutputCodes codes = {static_cast<int8_t>(tile->rounding >> 1), -128, 127, 1};
  const ChannelBlock* block = tile->block;
  const int8_t* w = tile->w;
  int32_t sums[4];
  RUSH_ROLLED for (uint32_t o = 0; o < tile->outputs; ++o) {
    const uint32_t lane = o & 3;
    if ((lane & 1) == 0) {
      sum_two(*tile, w, block->bias + lane, sums + lane);
      w += 4 * tile->layout.pairs;
    }
    tile->out[o] = tile->left_shift != 0 ? any_code(sums[lane], block->scale[lane], codes)
                                         : plain_code(sums[lane], block->scale[lane], tile->rounding);
    if (lane == 3) ++block;
  }
}

}  // namespace

#endif

namespace {

/// The windows of a map, tile by tile.
struct PairsWalk {
  PairsTile tile;
  const Conv2dParams* params;
  const int8_t* in;
  // The input position of the next window's first tap, and how many outputs of its row are left.
  int32_t y;
  int32_t x;
  uint32_t left;
  const int8_t* row;  ///< where row y lies, if windows of it may lie in the map as they are
  uint32_t gap;       ///< in the map, from a segment's end to the next
  uint32_t columns;   ///< where windows can begin without leaving the map; of all rows if rows do not matter
};

/// To the first window of a row of outputs.
void to_row(PairsWalk& walk, int32_t y) {
  const ConvGeometry& g = walk.params->geometry;
  const int32_t span = (g.kernel_height - 1) * g.dilation_height;
  walk.y = y;
  walk.x = -static_cast<int32_t>(g.pad_left);
  walk.left = g.out_width;
  walk.row = nullptr;
  // A row of a window must be a segment.
  if (y < 0 || y + span >= g.in_height || walk.tile.layout.segments.taps != g.kernel_width) return;
  const RowCursor rows = window_rows(g, static_cast<uint32_t>(y));
  // The window must not come back to the start of a ring.
  if (rows.offset + static_cast<uint32_t>(span) * g.in.row_bytes < rows.limit) walk.row = walk.in + rows.offset;
}

__attribute__((noinline)) void advance(PairsWalk& walk, uint32_t positions) {
  const ConvGeometry& g = walk.params->geometry;
  walk.x += static_cast<int32_t>(positions * g.stride_width);
  walk.left -= positions;
  if (walk.left == 0) to_row(walk, walk.y + g.stride_height);
}

/// Copies `bytes` bytes as words that lie `step` apart: 4, or 0 for one word again and again. memset and memmove of
/// small C libraries take bytes.
__attribute__((noinline)) int8_t* copy(const int8_t* from, uint32_t step, uint32_t bytes, int8_t* to) {
  int8_t* const words_end = to + (bytes & ~3u);
  int8_t* const end = to + bytes;
  if (to != words_end) {
    RUSH_ROLLED do {
      const uint32_t word = load_word(from);
      __builtin_memcpy(to, &word, 4);
      to += 4;
      from += step;
    }
    while (to != words_end);
  }
  RUSH_ROLLED while (to != end)* to++ = *from++;
  return to;
}

template <class T>
inline T lesser(T a, T b) {
  return a < b ? a : b;
}

/// Any window, run by run of neighbouring pixels inside the map or outside.
int8_t* gather_window(const PairsWalk& walk, int8_t* to) {
  const Conv2dParams& p = *walk.params;
  const ConvGeometry& g = p.geometry;
  const uint32_t outside = static_cast<uint8_t>(p.zero_point) * 0x01010101u;
  int32_t y = walk.y;
  RUSH_ROLLED for (uint32_t i = g.kernel_height; i != 0; --i, y += g.dilation_height) {
    const int32_t width = y >= 0 && y < g.in_height ? g.in_width : 0;
    int32_t x = walk.x, run;
    RUSH_ROLLED for (int32_t left = g.kernel_width; left > 0; left -= run, x += run * g.dilation_width) {
      run = lesser(left, static_cast<int32_t>(walk.tile.layout.segments.taps));
      const int8_t* from = reinterpret_cast<const int8_t*>(&outside);
      uint32_t step = 0;
      if (x < 0) {
        run = lesser(run, -x);
      } else if (x < width) {
        run = lesser(run, width - x);
        from = walk.in + row_offset(g.in, static_cast<uint32_t>(y)) + x * p.in_pixel;
        step = 4;
      }
      to = copy(from, step, static_cast<uint32_t>(run) * p.in_channels, to);
    }
  }
  return to;
}

/// Gives the tile `positions` windows, 1 or 4, or a multiple of that up to `most`, and moves behind them; returns how
/// many.
__attribute__((noinline)) uint32_t take_windows(PairsWalk& walk, uint32_t positions, uint32_t most) {
  const Conv2dParams& p = *walk.params;
  PairsTile& tile = walk.tile;
  const uint32_t x = static_cast<uint32_t>(walk.x), stride = p.geometry.stride_width;
  uint32_t inside = 0;
  if (walk.row != nullptr && x < walk.columns) {
    inside = lesser(lesser((walk.columns - 1 - x) / stride + 1, walk.left), most) & (0u - positions);
  }
  if (inside != 0) {
    tile.from = walk.row + x * p.in_pixel;
    tile.step = stride * p.in_pixel;
    tile.gap = walk.gap;
    advance(walk, inside);
    return inside;
  }
  int8_t* to = reinterpret_cast<int8_t*>(tile.x) + tile.layout.windows;
  tile.from = to;
  tile.step = tile.layout.segments.bytes * tile.layout.segments.count;
  tile.gap = 0;
  RUSH_ROLLED for (uint32_t i = positions; i != 0; --i) {
    to = gather_window(walk, to);
    advance(walk, 1);
  }
  return positions;
}

/// The tile's one window to pairs; returns the sum of its inputs.
int32_t unpack_one(const PairsTile& tile) {
  const int8_t* from = tile.from;
  int32_t* to = tile.x;
  int32_t sum = 0;
  RUSH_ROLLED for (uint32_t left = tile.layout.segments.count; left != 0; --left, from += tile.gap) {
    uint32_t bytes = tile.layout.segments.bytes;
    RUSH_ROLLED for (; bytes >= 4; bytes -= 4, from += 4) {
      const BytePairs pairs = load_pairs(from);
      *to++ = pairs.odd;
      *to++ = pairs.even;
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

/// `left` outputs, one by one.
__attribute__((noinline)) void walk_singly(PairsWalk& walk, uint32_t left) {
  PairsTile& tile = walk.tile;
  tile.x[tile.layout.pairs - 1] = 0;
  RUSH_ROLLED for (; left != 0; --left, tile.out += tile.stride) {
    take_windows(walk, 1, 1);
    tile.window_sum = unpack_one(tile);
    rush_conv2d_pairs_one(&tile);
  }
}

/// `left` outputs, four by four.
void walk_fours(PairsWalk& walk, uint32_t left) {
  PairsTile& tile = walk.tile;
  // Where a window has an odd number of pairs, the last one is nothing.
  memset(tile.x + 3 * (tile.layout.pairs - 1), 0, 12);
  RUSH_ROLLED while (left >= 4) {
    tile.positions = take_windows(walk, 4, left);
    rush_conv2d_pairs_four(&tile);
    tile.out += tile.positions * tile.stride;
    left -= tile.positions;
  }
  walk_singly(walk, left);
}

/// Codes that are left to clamp.
void narrow_codes(const Conv2dParams& p, int8_t* out, uint32_t positions) {
  RUSH_ROLLED for (; positions != 0; --positions, out += p.out_pixel) {
    RUSH_ROLLED for (uint32_t i = 0; i < p.out_channels; ++i) {
      out[i] = static_cast<int8_t>(clamp_to(out[i], p.codes.min, p.codes.max));
    }
  }
}

}  // namespace

void conv2d_pairs_s8_dsp(const void* params, void* const* operands, Band band) {
  const Conv2dPairsParams& pairs = *static_cast<const Conv2dPairsParams*>(params);
  const Conv2dParams& p = pairs.conv;
  const ConvGeometry& g = p.geometry;
  PairsWalk walk;
  PairsTile& tile = walk.tile;
  tile.layout = pairs_layout(pairs);
  const PairsLayout& layout = tile.layout;
  walk.params = &p;
  walk.in = static_cast<const int8_t*>(operands[0]);
  walk.gap = g.dilation_height * g.in.row_bytes - layout.segments.bytes;
  const uint32_t span = static_cast<uint32_t>(g.kernel_width - 1) * g.dilation_width;
  walk.columns = span < g.in_width ? g.in_width - span : 0;
  tile.x = static_cast<int32_t*>(operands[4]);
  tile.w = static_cast<const int8_t*>(operands[2]);
  tile.block = static_cast<const ChannelBlock*>(operands[3]);
  tile.stride = p.out_pixel;
  tile.outputs = p.out_channels;
  tile.left_shift = p.codes.left_shift;
  tile.rounding = 2 * p.codes.zero_point + 1;
  tile.shared = pairs.shared;
  // Rows of outputs that lie one behind the other are as one: where their windows do too, and where there is room to
  // gather windows of two rows.
  const bool is_dense = g.out.reciprocal == 0 && g.out.row_bytes == static_cast<uint32_t>(g.out_width) * p.out_pixel;
  const bool gathers = layout.end != layout.windows;
  const bool is_row =
      is_dense && !gathers && g.in.reciprocal == 0 &&
      g.stride_height * g.in.row_bytes == static_cast<uint32_t>(g.out_width) * g.stride_width * p.in_pixel;
  if (is_row) walk.columns = 0x7fffffff;
  const bool is_one = is_row || (is_dense && gathers);
  const uint32_t rows = is_one ? static_cast<uint32_t>(band.end - band.begin) : 1, left = rows * g.out_width;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += static_cast<int32_t>(rows)) {
    int8_t* const row = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    tile.out = row;
    to_row(walk, y * g.stride_height - g.pad_top);
    if (is_row) walk.left = left;
    pairs.positions != 1 ? walk_fours(walk, left) : walk_singly(walk, left);
    if (!p.codes.are_all()) narrow_codes(p, row, left);
  }
}

}  // namespace rush
