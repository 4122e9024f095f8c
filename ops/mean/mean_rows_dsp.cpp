// SPDX-License-Identifier: Apache-2.0
//
// Four channels at a time, as average_dsp.h; the last ones alone.
#include <string.h>

#include "../avg_pool2d/average_dsp.h"
#include "mean_rows.h"

namespace rush {
namespace {

void add_row(const MeanRowsParams& p, const int8_t* row, int32_t* sums) {
  uint32_t c = 0;
  for (; c + 4 <= p.channels; c += 4) {
    FourSums four;
    memcpy(&four, sums + c, sizeof four);
    add_pairs(four, sum_pairs(row + c, p.columns, p.channels));
    memcpy(sums + c, &four, sizeof four);
  }
#pragma GCC unroll 1
  for (; c < p.channels; ++c) {
    sums[c] = wrapping_add(sums[c], sum_taps({1, p.columns, p.channels}, [&](int32_t) { return row + c; }));
  }
}

}  // namespace

void mean_rows_s8_dsp(const void* params, void* const* operands, Band band) {
  const MeanRowsParams& p = *static_cast<const MeanRowsParams*>(params);
  const auto add = [&p](const int8_t* row, int32_t* sums) { add_row(p, row, sums); };
  if (add_rows(p, operands, band, p.channels, add)) store_codes(p, operands);
}

}  // namespace rush
