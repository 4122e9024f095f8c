// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "mean_rows.h"

namespace rush {
namespace {

void add_row(const MeanRowsParams& p, const int8_t* row, int32_t* sums) {
  for (uint32_t c = 0; c < p.channels; ++c) {
    const int8_t* tap = row + c;
    int32_t sum = sums[c];
#pragma GCC unroll 1
    for (uint32_t left = p.columns; left != 0; --left) {
      sum = wrapping_add(sum, *tap);
      tap += p.channels;
    }
    sums[c] = sum;
  }
}

}  // namespace

void mean_rows_s8_scalar(const void* params, void* const* operands, Band band) {
  const MeanRowsParams& p = *static_cast<const MeanRowsParams*>(params);
  int32_t* const sums = static_cast<int32_t*>(operands[2]);
  if (band.begin == 0) memset(sums, 0, 4u * p.channels);
  for (int32_t y = band.begin; y < band.end; ++y) {
    add_row(p, static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)), sums);
  }
  if (band.end != p.rows) return;
  int8_t* const out = static_cast<int8_t*>(operands[1]);
  for (uint32_t c = 0; c < p.channels; ++c) out[c] = code_of(p, sums[c]);
}

}  // namespace rush
