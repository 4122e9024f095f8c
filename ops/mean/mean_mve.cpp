// SPDX-License-Identifier: Apache-2.0
//
// Over space: eight neighbouring channels at a time. Over neighbouring elements: VADDVA, sixteen at a time.
#include "../avg_pool2d/average_mve.h"
#include "mean.h"

namespace rush {
namespace {

/// in[0] + ... + in[count - 1].
int32_t sum_run(const int8_t* in, int32_t count) {
  int32_t sum = 0;
  for (; count > 0; count -= 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(count));
    sum = vaddvaq_p_s8(sum, vldrbq_z_s8(in, live), live);
    in += 16;
  }
  return sum;
}

int32_t sum_one(const int8_t* in, const MeanNest& nest) {
  const TapGrid grid = grid_of(nest);
  if (grid.step != 1) return sum_taps(grid, [&](int32_t r) { return in + r * nest.reduced[0].stride; });
  int32_t sum = 0;
  for (int32_t r = 0; r < grid.rows; ++r) sum += sum_run(in + r * nest.reduced[0].stride, grid.columns);
  return sum;
}

void mean_channels(const MeanParams& p, const int8_t* in, int8_t* out) {
  const TapGrid grid = grid_of(p.nest);
  for (int32_t left = static_cast<int32_t>(p.nest.kept[1].count); left > 0; left -= 8) {
    const mve_pred16_t live = vctp16q(static_cast<uint32_t>(left));
    const EightSums sums = sum_taps8(grid, [&](int32_t r) { return in + r * p.nest.reduced[0].stride; }, live);
    store_codes(out, codes_of(sums.even, p.scale, p.offset, p.range), codes_of(sums.odd, p.scale, p.offset, p.range),
                live);
    in += 8;
    out += 8;
  }
}

void mean_row(const MeanParams& p, const int8_t* in, int8_t* out) {
  const MeanAxis& kept = p.nest.kept[1];
  if (kept.stride == 1 && kept.count > 1) return mean_channels(p, in, out);
  for (uint32_t j = 0; j < kept.count; ++j) out[j] = code_of(p, sum_one(in + j * kept.stride, p.nest));
}

}  // namespace

void mean_s8_mve(const void* params, void* const* operands, Band) {
  const MeanParams& p = *static_cast<const MeanParams*>(params);
  for (uint32_t i = 0; i < p.nest.kept[0].count; ++i) {
    mean_row(p, static_cast<const int8_t*>(operands[0]) + i * p.nest.kept[0].stride,
             static_cast<int8_t*>(operands[1]) + i * p.nest.kept[1].count);
  }
}

}  // namespace rush
