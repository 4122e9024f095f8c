// SPDX-License-Identifier: Apache-2.0
//
// The mean over space of a map that arrives row by row: sums stay in memory from band to band, so the map need not
// exist. The same values as mean and average pooling over a whole map.
#ifndef RUSHLIGHT_OPS_MEAN_ROWS_H
#define RUSHLIGHT_OPS_MEAN_ROWS_H

#include <string.h>

#include "../avg_pool2d/average.h"
#include "../conv2d/conv2d_geometry.h"
#include "rushlight/kernel.h"

namespace rush {

/// Operands: 0 in, [rows, columns, channels] of any alignment; 1 out, [channels], written with the last row;
/// 2 sums, an int32 for each of the channels, rounded up to eight, in an order of the variant's own; kept between
/// bands. The bands count rows of the input. 1 <= columns <= 256.
struct MeanRowsParams {
  Rows in;
  uint16_t rows;
  uint16_t columns;
  uint16_t channels;
  uint16_t reserved;
  AverageScale scale;
  int32_t offset;
  Range range;
};

extern const KernelContract mean_rows_s8_contract;
Kernel mean_rows_s8_scalar, mean_rows_s8_dsp, mean_rows_s8_mve;

enum { kMeanRowsMostColumns = 256 };  ///< a row's sum fits 16 bits

inline uint32_t mean_rows_sums(uint32_t channels) { return (channels + 7u) & ~7u; }

inline int8_t code_of(const MeanRowsParams& p, int32_t sum) {
  return static_cast<int8_t>(clamp_to(wrapping_add(mean_of(sum, p.scale), p.offset), p.range.min, p.range.max));
}

/// Rows from y on that are one run of neighbouring pixels, no more than a row may have.
inline int32_t rows_together(const MeanRowsParams& p, int32_t y, int32_t end) {
  if (p.in.row_bytes != static_cast<uint32_t>(p.columns) * p.channels) return 1;
  const int32_t most = rows_in_sequence(p.in, {y, end});
  int32_t rows = 1;
  while (rows < most && (rows + 1) * p.columns <= kMeanRowsMostColumns) ++rows;
  return rows;
}

/// Adds a band's rows to the sums, which its first row clears; true where the sums are whole.
/// AddRow is void(const int8_t* row, int32_t columns, int32_t* sums).
template <class AddRow>
inline bool add_rows(const MeanRowsParams& p, void* const* operands, Band band, uint32_t sum_count, AddRow add_row) {
  int32_t* const sums = static_cast<int32_t*>(operands[2]);
  if (band.begin == 0) memset(sums, 0, 4u * sum_count);
  for (int32_t y = band.begin, rows; y < band.end; y += rows) {
    rows = rows_together(p, y, band.end);
    add_row(static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)), rows * p.columns,
            sums);
  }
  return band.end == p.rows;
}

/// The codes of whole sums that lie in the channels' order.
inline void store_codes(const MeanRowsParams& p, void* const* operands) {
  const int32_t* const sums = static_cast<const int32_t*>(operands[2]);
  int8_t* const out = static_cast<int8_t*>(operands[1]);
  for (uint32_t c = 0; c < p.channels; ++c) out[c] = code_of(p, sums[c]);
}

}  // namespace rush
#endif
