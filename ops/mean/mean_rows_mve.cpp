// SPDX-License-Identifier: Apache-2.0
//
// Eight channels at a time: a row's sums in 16-bit lanes, then added to the even and the odd lanes' 32-bit sums.
#include <string.h>

#include "../avg_pool2d/average_mve.h"
#include "mean_rows.h"

namespace rush {
namespace {

void add_row(const MeanRowsParams& p, const int8_t* row, int32_t* sums) {
  for (int32_t left = p.channels; left > 0; left -= 8) {
    const EightSums added =
        sum_channels({1, p.columns, p.channels}, [row](int32_t) { return row; }, vctp16q(static_cast<uint32_t>(left)));
    vstrwq_s32(sums, vaddq_s32(vldrwq_s32(sums), added.even));
    vstrwq_s32(sums + 4, vaddq_s32(vldrwq_s32(sums + 4), added.odd));
    row += 8;
    sums += 8;
  }
}

}  // namespace

void mean_rows_s8_mve(const void* params, void* const* operands, Band band) {
  const MeanRowsParams& p = *static_cast<const MeanRowsParams*>(params);
  int32_t* sums = static_cast<int32_t*>(operands[2]);
  if (band.begin == 0) memset(sums, 0, 4u * mean_rows_sums(p.channels));
  for (int32_t y = band.begin; y < band.end; ++y) {
    add_row(p, static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)), sums);
  }
  if (band.end != p.rows) return;
  int8_t* out = static_cast<int8_t*>(operands[1]);
  const MeanCodes codes = mean_codes(p.scale, 0, p.offset, p.range);
  for (int32_t left = p.channels; left > 0; left -= 8) {
    vstrbq_p_s16(out, codes.of(vldrwq_s32(sums), vldrwq_s32(sums + 4)), vctp16q(static_cast<uint32_t>(left)));
    sums += 8;
    out += 8;
  }
}

}  // namespace rush
