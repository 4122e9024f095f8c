// SPDX-License-Identifier: Apache-2.0
#include "mean_rows.h"

namespace rush {
namespace {

void add_row(const MeanRowsParams& p, const int8_t* row, int32_t columns, int32_t* sums) {
  for (uint32_t c = 0; c < p.channels; ++c) {
    const int8_t* tap = row + c;
    int32_t sum = sums[c];
#pragma GCC unroll 1
    for (int32_t left = columns; left != 0; --left) {
      sum = wrapping_add(sum, *tap);
      tap += p.channels;
    }
    sums[c] = sum;
  }
}

}  // namespace

void mean_rows_s8_scalar(const void* params, void* const* operands, Band band) {
  const MeanRowsParams& p = *static_cast<const MeanRowsParams*>(params);
  const auto add = [&p](const int8_t* row, int32_t columns, int32_t* sums) { add_row(p, row, columns, sums); };
  if (add_rows(p, operands, band, p.channels, add)) store_codes(p, operands);
}

}  // namespace rush
