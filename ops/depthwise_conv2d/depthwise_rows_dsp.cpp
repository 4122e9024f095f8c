// SPDX-License-Identifier: Apache-2.0
//
// Four channels of a few rows are unpacked in scratch: columns in pairs, for each pair the four channels, for each of
// them one word a row. Then a block of 2x2 outputs of one channel takes eight loads and 24 multiplies: for each kernel
// row, (w0, w1) and (w1, w2) are SMLAD's operands on aligned pairs, and w2 or w0 alone SMLABT's or SMLATB's. With
// stride 2, all outputs begin at an aligned pair, and a block takes fifteen loads.
#include <arm_acle.h>

#include "../conv2d/conv2d_dot_dsp.h"
#include "depthwise_rows.h"

#if defined(RUSH_ASM) && defined(__GNUC__) && !defined(__clang__)
// The loops are in assembly: the rest had better be small.
#pragma GCC optimize("Os")
#endif

namespace rush {
namespace {

/// Up to four channels of a chunk of rows.
struct DepthwiseRowsTile {
  const int32_t* x;
  const int8_t* w;
  const int32_t* channels;  ///< biases; scales lie 16 bytes behind
  int8_t* out;
  uint32_t out_step;  ///< between channels
  uint32_t row_bytes;
  uint32_t pixel_bytes;
  uint32_t rows;
  uint32_t columns;
  uint32_t count;    ///< channels
  int32_t rounding;  ///< twice the zero point, plus 1
};

typedef void DepthwiseRowsLoop(const DepthwiseRowsTile* tile);

/// Columns of a row that are unpacked, in pairs.
struct RowCut {
  uint32_t x;  ///< the first; those on the left lie beyond the map too
  uint32_t columns;
  uint32_t pixel_bytes;
  uint32_t outside;  ///< four zero points
  uint32_t before;   ///< pairs that may lie outside the map
  uint32_t inside;   ///< pairs behind them that do not
  uint32_t behind;   ///< pairs behind those that may
  uint32_t row_bytes;
};

/// Four channels of pairs of columns of one or more rows to a word of each plane. Columns outside the map are not read.
typedef void DepthwiseUnpackLoop(const int8_t* from, int32_t* to, const RowCut* cut, uint32_t rows);

// Halfwords of `left` and `right` side by side, the lower and the upper ones: PKHBT and PKHTB.
inline int32_t lower_halves(int32_t left, int32_t right) {
  return (left & 0xffff) | static_cast<int32_t>(static_cast<uint32_t>(right) << 16);
}
inline int32_t upper_halves(int32_t left, int32_t right) {
  return static_cast<int32_t>(static_cast<uint32_t>(right) & 0xffff0000u) | ((left >> 16) & 0xffff);
}

/// Four channels of two columns, to a word of each plane.
inline void store_columns(uint32_t left, uint32_t right, int32_t* to) {
  const int32_t a = __sxtb16(static_cast<int8x4_t>(left)), b = __sxtb16(static_cast<int8x4_t>(right));
  const int32_t c = odd_bytes(left), d = odd_bytes(right);
  to[0] = lower_halves(a, b);
  to[kPlaneBytes / 4] = lower_halves(c, d);
  to[2 * kPlaneBytes / 4] = upper_halves(a, b);
  to[3 * kPlaneBytes / 4] = upper_halves(c, d);
}

}  // namespace

#if defined(RUSH_ASM)

extern "C" DepthwiseRowsLoop rush_depthwise_rows_1, rush_depthwise_rows_2;
extern "C" DepthwiseUnpackLoop rush_depthwise_unpack;

#else

namespace {

struct RowWeights {
  int32_t left;
  int32_t right;
};

/// One channel's outputs of one pair of columns, row by row: the second column only for stride 1.
template <uint32_t kStride>
void walk_columns(const DepthwiseRowsTile& tile, const int32_t* x, const RowWeights* w, int8_t* out, bool has_second) {
  const int32_t bias = tile.channels[0], scale = tile.channels[4];
  RUSH_ROLLED for (uint32_t row = 0; row < tile.rows; ++row, x += kStride, out += tile.row_bytes) {
    int32_t first = bias, second = bias;
    for (uint32_t i = 0; i < 3; ++i) {
      const int32_t a = x[i], b = x[i + kColumnsBytes / 4];
      first = __smlabt(b, w[i].right, __smlad(a, w[i].left, first));
      if (kStride == 1) second = __smlatb(a, w[i].left, __smlad(b, w[i].right, second));
    }
    out[0] = plain_code(first, scale, tile.rounding);
    if (has_second) out[tile.pixel_bytes] = plain_code(second, scale, tile.rounding);
  }
}

template <uint32_t kStride>
void walk_planes(DepthwiseRowsTile tile) {
  RUSH_ROLLED for (; tile.count != 0; --tile.count) {
    RowWeights w[3];
    for (uint32_t i = 0; i < 3; ++i) {
      const BytePairs pairs = load_pairs(tile.w + 4 * i);
      w[i] = {pairs.even, pairs.odd};
    }
    const int32_t* x = tile.x;
    int8_t* out = tile.out;
    const uint32_t width = 3 - kStride;
    RUSH_ROLLED for (uint32_t column = 0; column < tile.columns; column += width, x += kColumnsBytes / 4) {
      walk_columns<kStride>(tile, x, w, out, kStride == 1 && column + 1 < tile.columns);
      out += width * tile.pixel_bytes;
    }
    tile.w += kRowsChannelWeights;
    tile.x += kPlaneBytes / 4;
    tile.out += tile.out_step;
    ++tile.channels;
  }
}

void rush_depthwise_rows_1(const DepthwiseRowsTile* tile) { walk_planes<1>(*tile); }
void rush_depthwise_rows_2(const DepthwiseRowsTile* tile) { walk_planes<2>(*tile); }

void unpack_row(const int8_t* from, int32_t* to, const RowCut& cut) {
  uint32_t x = cut.x;
  RUSH_ROLLED for (uint32_t left = cut.before + cut.inside + cut.behind; left != 0; --left, x += 2) {
    uint32_t first = cut.outside, second = cut.outside;
    if (x < cut.columns) first = load_word(from);
    from += cut.pixel_bytes;
    if (x + 1 < cut.columns) second = load_word(from);
    from += cut.pixel_bytes;
    store_columns(first, second, to);
    to += kColumnsBytes / 4;
  }
}

void rush_depthwise_unpack(const int8_t* from, int32_t* to, const RowCut* cut, uint32_t rows) {
  RUSH_ROLLED for (uint32_t i = 0; i < rows; ++i) unpack_row(from + i * cut->row_bytes, to + i, *cut);
}

}  // namespace

#endif

namespace {

/// Channels that are unpacked together.
struct DepthwiseRowsWalk {
  const DepthwiseConv2dParams* params;
  const int8_t* in;  ///< the map from the first channel on
  int32_t* scratch;
  uint32_t width;  ///< channels
  uint32_t pairs;  ///< of columns
  RowCut cut;
};

RowCut cut_of(const DepthwiseConv2dParams& p) {
  const ConvGeometry& g = p.geometry;
  const uint32_t pairs = rows_column_pairs(g), widest = (g.pad_left + 1u) / 2;
  const uint32_t before = widest < pairs ? widest : pairs;
  const int32_t inside = (g.in_width + g.pad_left) / 2 - static_cast<int32_t>(before);
  const uint32_t most = static_cast<uint32_t>(clamp_to(inside, 0, static_cast<int32_t>(pairs - before)));
  return {
      0u - g.pad_left,       g.in_width,    p.channels, static_cast<uint8_t>(p.zero_point) * 0x01010101u, before, most,
      pairs - before - most, g.in.row_bytes};
}

inline uint32_t load_few(const int8_t* from, uint32_t count) {
  uint32_t word = 0;
  RUSH_ROLLED for (uint32_t i = count; i != 0; --i) word = word << 8 | static_cast<uint8_t>(from[i - 1]);
  return word;
}

/// One row of fewer than four channels, to word 0 of each plane from `to` on.
__attribute__((noinline)) void unpack_few(const DepthwiseRowsWalk& walk, const int8_t* from, int32_t* to) {
  const RowCut& cut = walk.cut;
  uint32_t x = cut.x;
  RUSH_ROLLED for (uint32_t left = walk.pairs; left != 0; --left, x += 2, to += kColumnsBytes / 4) {
    const uint32_t first = x < cut.columns ? load_few(from, walk.width) : cut.outside;
    from += cut.pixel_bytes;
    store_columns(first, x + 1 < cut.columns ? load_few(from, walk.width) : cut.outside, to);
    from += cut.pixel_bytes;
  }
}

/// A row outside the map.
void fill_row(const DepthwiseRowsWalk& walk, int32_t* to) {
  const int32_t pair = __sxtb16(static_cast<int8x4_t>(walk.cut.outside));
  RUSH_ROLLED for (uint32_t left = walk.pairs; left != 0; --left, to += kColumnsBytes / 4) {
    to[0] = to[kPlaneBytes / 4] = to[2 * kPlaneBytes / 4] = to[3 * kPlaneBytes / 4] = pair;
  }
}

/// Rows inside the map, one behind the other.
void unpack_rows(const DepthwiseRowsWalk& walk, int32_t y, int32_t* to, uint32_t rows) {
  const int8_t* from = walk.in + row_offset(walk.params->geometry.in, static_cast<uint32_t>(y)) +
                       static_cast<int32_t>(walk.cut.x * walk.cut.pixel_bytes);
  if (walk.width == 4) return rush_depthwise_unpack(from, to, &walk.cut, rows);
  RUSH_ROLLED for (; rows != 0; --rows, ++to, from += walk.cut.row_bytes) unpack_few(walk, from, to);
}

/// The rows that `rows` output rows from y on read.
void unpack_windows(const DepthwiseRowsWalk& walk, int32_t y, uint32_t rows) {
  const ConvGeometry& g = walk.params->geometry;
  int32_t from = y * g.stride_height - g.pad_top;
  int32_t* to = walk.scratch;
  RUSH_ROLLED for (uint32_t left = (rows - 1) * g.stride_height + 3; left != 0;) {
    uint32_t taken = 1;
    if (from < 0 || from >= g.in_height) {
      fill_row(walk, to);
    } else {
      // Rows of a ring do not follow each other for ever.
      const uint32_t inside = static_cast<uint32_t>(g.in_height - from);
      if (g.in.reciprocal == 0) taken = inside < left ? inside : left;
      unpack_rows(walk, from, to, taken);
    }
    from += static_cast<int32_t>(taken);
    to += taken;
    left -= taken;
  }
}

}  // namespace

void depthwise_rows_s8_dsp(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = static_cast<const DepthwiseRowsParams*>(params)->depthwise;
  const ConvGeometry& g = p.geometry;
  DepthwiseRowsTile tile = {};
  tile.x = static_cast<const int32_t*>(operands[4]);
  tile.rounding = 2 * p.codes.zero_point + 1;
  tile.out_step = p.multiplier;
  tile.row_bytes = g.out.row_bytes;
  tile.pixel_bytes = static_cast<uint32_t>(p.channels) * p.multiplier;
  tile.columns = g.out_width;
  // Rows of a ring do not follow each other for ever.
  const uint32_t chunk = g.stride_width == 1 ? kRowsAtOnce : kStridedRowsAtOnce;
  const int32_t most = g.out.reciprocal != 0 ? 1 : static_cast<int32_t>(chunk);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += static_cast<int32_t>(tile.rows)) {
    tile.rows = static_cast<uint32_t>(clamp_to(band.end - y, 1, most));
    tile.w = static_cast<const int8_t*>(operands[2]);
    int8_t* const out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    DepthwiseRowsWalk walk = {
        &p,       static_cast<const int8_t*>(operands[0]), static_cast<int32_t*>(operands[4]), 0, rows_column_pairs(g),
        cut_of(p)};
    RUSH_ROLLED for (uint32_t channel = 0; channel < p.channels; channel += 4, walk.in += 4) {
      walk.width = tile.count = p.channels - channel < 4 ? p.channels - channel : 4;
      unpack_windows(walk, y, tile.rows);
      const ChannelBlock* block = static_cast<const ChannelBlock*>(operands[3]) + channel / 4;
      tile.out = out + channel * p.multiplier;
      RUSH_ROLLED for (uint32_t m = 0; m < p.multiplier; ++m, ++tile.out, block += channel_blocks(p.channels)) {
        tile.channels = block->bias;
        g.stride_width == 1 ? rush_depthwise_rows_1(&tile) : rush_depthwise_rows_2(&tile);
        tile.w += tile.count * kRowsChannelWeights;
      }
    }
  }
}

}  // namespace rush
