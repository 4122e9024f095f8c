// SPDX-License-Identifier: Apache-2.0
//
// Four channels of a few rows are unpacked in scratch: columns in pairs, for each pair the four channels, for each of
// them one word a row. Then a block of 2x2 outputs of one channel takes eight loads and 24 multiplies: for each kernel
// row, (w0, w1) and (w1, w2) are SMLAD's operands on aligned pairs, and w2 or w0 alone SMLABT's or SMLATB's. With
// stride 2, all outputs begin at an aligned pair, and a block takes fifteen loads.
#include <arm_acle.h>

#include "../conv2d/conv2d_dot_dsp.h"
#include "depthwise_rows.h"

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
  uint32_t stride;
};

typedef void DepthwiseRowsLoop(const DepthwiseRowsTile* tile);

/// Columns of a row that are unpacked, in pairs.
struct RowCut {
  uint32_t x;     ///< the first; those on the left of the map count as beyond it
  uint32_t last;  ///< of the map
  uint32_t pixel_bytes;
  uint32_t outside;  ///< four zero points
  uint32_t pairs;
  uint32_t row_bytes;
};

/// Four channels of pairs of columns of one or more rows to a word of each plane. Columns outside the map are not read.
typedef void DepthwiseUnpackLoop(const int8_t* from, int32_t* to, const RowCut* cut, uint32_t rows);

}  // namespace

#if defined(RUSH_ASM)

extern "C" DepthwiseRowsLoop rush_depthwise_rows;
extern "C" DepthwiseUnpackLoop rush_depthwise_unpack;

#else

namespace {

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

struct RowWeights {
  int32_t left;
  int32_t right;
};

/// One channel's outputs of one pair of columns, row by row: the second column only for stride 1.
void walk_columns(const DepthwiseRowsTile& tile, const int32_t* x, const RowWeights* w, int8_t* out, bool has_second) {
  const int32_t bias = tile.channels[0], scale = tile.channels[4];
  RUSH_ROLLED for (uint32_t row = 0; row < tile.rows; ++row, x += tile.stride, out += tile.row_bytes) {
    int32_t first = bias, second = bias;
    for (uint32_t i = 0; i < 3; ++i) {
      const int32_t a = x[i], b = x[i + kColumnsBytes / 4];
      first = __smlabt(b, w[i].right, __smlad(a, w[i].left, first));
      second = __smlatb(a, w[i].left, __smlad(b, w[i].right, second));
    }
    out[0] = plain_code(first, scale, tile.rounding);
    if (has_second) out[tile.pixel_bytes] = plain_code(second, scale, tile.rounding);
  }
}

void rush_depthwise_rows(const DepthwiseRowsTile* from) {
  DepthwiseRowsTile tile = *from;
  RUSH_ROLLED for (; tile.count != 0; --tile.count) {
    RowWeights w[3];
    for (uint32_t i = 0; i < 3; ++i) {
      const BytePairs pairs = load_pairs(tile.w + 4 * i);
      w[i] = {pairs.even, pairs.odd};
    }
    const int32_t* x = tile.x;
    int8_t* out = tile.out;
    const uint32_t width = 3 - tile.stride;
    RUSH_ROLLED for (uint32_t column = 0; column < tile.columns; column += width, x += kColumnsBytes / 4) {
      walk_columns(tile, x, w, out, width == 2 && column + 1 < tile.columns);
      out += width * tile.pixel_bytes;
    }
    tile.w += kRowsChannelWeights;
    tile.x += kPlaneBytes / 4;
    tile.out += tile.out_step;
    ++tile.channels;
  }
}

void unpack_row(const int8_t* from, int32_t* to, const RowCut& cut) {
  uint32_t x = cut.x;
  RUSH_ROLLED for (uint32_t left = cut.pairs; left != 0; --left, x += 2) {
    uint32_t first = cut.outside, second = cut.outside;
    if (x <= cut.last) first = load_word(from);
    from += cut.pixel_bytes;
    if (x + 1 <= cut.last) second = load_word(from);
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

inline uint32_t lesser(uint32_t a, uint32_t b) { return a < b ? a : b; }

/// A chunk of rows: some above the map, some inside, some below.
struct DepthwiseRowsChunk {
  uint32_t above;
  uint32_t inside;
  int32_t first;  ///< inside
};

/// Rows outside the map, the same for all channels.
__attribute__((noinline)) void fill_rows(const RowCut& cut, int32_t* to, int32_t rows) {
  const int32_t outside = __sxtb16(static_cast<int8x4_t>(cut.outside));
  RUSH_ROLLED for (uint32_t left = 4 * cut.pairs; left != 0; --left) {
    RUSH_ROLLED for (int32_t i = rows; i > 0; --i) to[i - 1] = outside;
    to += kPlaneBytes / 4;
  }
}

DepthwiseRowsChunk begin_chunk(const DepthwiseConv2dParams& p, const DepthwiseRowsTile& tile, int32_t y,
                               const RowCut& cut, int32_t* scratch) {
  const ConvGeometry& g = p.geometry;
  const int32_t top = y * g.stride_height - g.pad_top;
  const int32_t rows = static_cast<int32_t>((tile.rows - 1) * tile.stride + 3);
  const int32_t above = clamp_to(-top, 0, rows), end = clamp_to(g.in_height - top, above, rows);
  fill_rows(cut, scratch, above);
  fill_rows(cut, scratch + end, rows - end);
  return {static_cast<uint32_t>(above), static_cast<uint32_t>(end - above), top + above};
}

}  // namespace

void depthwise_rows_s8_dsp(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = static_cast<const DepthwiseRowsParams*>(params)->depthwise;
  const ConvGeometry& g = p.geometry;
  int32_t* const scratch = static_cast<int32_t*>(operands[4]);
  const uint32_t outside = static_cast<uint8_t>(p.zero_point) * 0x01010101u;
  const RowCut cut = {0u - g.pad_left, g.in_width - 1u, p.channels, outside, rows_column_pairs(g), g.in.row_bytes};
  DepthwiseRowsTile tile;
  tile.rounding = 2 * p.codes.zero_point + 1;
  tile.out_step = p.multiplier;
  tile.row_bytes = g.out.row_bytes;
  tile.pixel_bytes = static_cast<uint32_t>(p.channels) * p.multiplier;
  tile.columns = g.out_width;
  tile.stride = g.stride_width;
  // Rows of a ring do not follow each other for ever.
  const uint32_t most = g.out.reciprocal != 0 ? 1 : kRowsAtOnce >> (tile.stride - 1);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += static_cast<int32_t>(tile.rows)) {
    tile.rows = lesser(static_cast<uint32_t>(band.end - y), most);
    const DepthwiseRowsChunk chunk = begin_chunk(p, tile, y, cut, scratch);
    const uint32_t at_once = g.in.reciprocal != 0 ? 1 : chunk.inside;
    tile.w = static_cast<const int8_t*>(operands[2]);
    int8_t* const out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    const ChannelBlock* blocks = static_cast<const ChannelBlock*>(operands[3]);
    RUSH_ROLLED for (uint32_t channel = 0; channel < p.channels; channel += 4, ++blocks) {
      // Fewer than four channels are the last of four.
      tile.count = lesser(p.channels - channel, 4);
      const uint32_t skipped = 4 - tile.count;
      tile.x = scratch + skipped * (kPlaneBytes / 4);
      RUSH_ROLLED for (uint32_t row = 0; row < chunk.inside; row += at_once) {
        const uint32_t offset = row_offset(g.in, static_cast<uint32_t>(chunk.first) + row) + cut.x * cut.pixel_bytes;
        const int8_t* const from = static_cast<const int8_t*>(operands[0]) + static_cast<int32_t>(offset);
        rush_depthwise_unpack(from + channel - skipped, scratch + chunk.above + row, &cut, at_once);
      }
      const ChannelBlock* block = blocks;
      tile.out = out + channel * p.multiplier;
      RUSH_ROLLED for (uint32_t m = 0; m < p.multiplier; ++m, ++tile.out, block += channel_blocks(p.channels)) {
        tile.channels = block->bias;
        rush_depthwise_rows(&tile);
        tile.w += tile.count * kRowsChannelWeights;
      }
    }
  }
}

}  // namespace rush
