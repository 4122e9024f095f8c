// SPDX-License-Identifier: Apache-2.0
//
// Four channels at a time, as average_dsp.h; the last ones alone.
#include "../avg_pool2d/average_dsp.h"
#include "mean_rows.h"

namespace rush {
namespace {

void add_row(const MeanRowsParams& p, const int8_t* row, int32_t columns, int32_t* sums) {
  int32_t left = p.channels;
  for (; left >= 4; left -= 4, row += 4, sums += 4) add_pairs(sums, sum_pairs(row, columns, p.channels));
#pragma GCC unroll 1
  for (; left > 0; --left, ++row, ++sums) *sums = wrapping_add(*sums, sum_row(row, columns, p.channels));
}

}  // namespace

// Row by row: add_rows(), which joins neighbouring rows, takes 54 bytes more.
void mean_rows_s8_dsp(const void* params, void* const* operands, Band band) {
  const MeanRowsParams& p = *static_cast<const MeanRowsParams*>(params);
  int32_t* const sums = static_cast<int32_t*>(operands[2]);
  if (band.begin == 0) memset(sums, 0, 4u * p.channels);
#pragma GCC unroll 1
  for (int32_t y = band.begin; y < band.end; ++y) {
    add_row(p, static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)), p.columns, sums);
  }
  if (band.end == p.rows) store_codes(p, operands);
}

}  // namespace rush
