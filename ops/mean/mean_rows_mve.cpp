// SPDX-License-Identifier: Apache-2.0
//
// Eight channels at a time: a run's sums in 16-bit lanes, then added to the even and the odd lanes' 32-bit sums.
#include "../avg_pool2d/average_mve.h"
#include "mean_rows.h"

namespace rush {
namespace {

void add_row(const MeanRowsParams& p, const int8_t* row, int32_t columns, int32_t* sums) {
  for (int32_t left = p.channels; left > 0; left -= 8) {
    const int16x8_t none = vdupq_n_s16(0);
    const EightSums added =
        widened(left < 8 ? add_taps(none, row, columns, p.channels, vctp16q(static_cast<uint32_t>(left)))
                         : add_taps(none, row, columns, p.channels));
    vstrwq_s32(sums, vaddq_s32(vldrwq_s32(sums), added.even));
    vstrwq_s32(sums + 4, vaddq_s32(vldrwq_s32(sums + 4), added.odd));
    row += 8;
    sums += 8;
  }
}

}  // namespace

void mean_rows_s8_mve(const void* params, void* const* operands, Band band) {
  const MeanRowsParams& p = *static_cast<const MeanRowsParams*>(params);
  const auto add = [&p](const int8_t* row, int32_t columns, int32_t* sums) { add_row(p, row, columns, sums); };
  if (!add_rows(p, operands, band, mean_rows_sums(p.channels), add)) return;
  const int32_t* sums = static_cast<const int32_t*>(operands[2]);
  int8_t* out = static_cast<int8_t*>(operands[1]);
  const MeanCodes codes = mean_codes(p.scale, 0, p.offset, p.range);
  for (int32_t left = p.channels; left > 0; left -= 8) {
    vstrbq_p_s16(out, codes.of(vldrwq_s32(sums), vldrwq_s32(sums + 4)), vctp16q(static_cast<uint32_t>(left)));
    sums += 8;
    out += 8;
  }
}

}  // namespace rush
