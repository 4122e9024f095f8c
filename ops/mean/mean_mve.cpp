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
  for (int32_t left = count / 16; left > 0; --left) {
    sum = vaddvaq_s8(sum, vldrbq_s8(in));
    in += 16;
  }
  const mve_pred16_t live = vctp8q(static_cast<uint32_t>(count % 16));
  return vaddvaq_p_s8(sum, vldrbq_z_s8(in, live), live);
}

int32_t sum_one(const int8_t* in, const MeanNest& nest) {
  const TapGrid grid = grid_of(nest);
  if (grid.step != 1) return sum_taps(grid, [&](int32_t r) { return in + r * nest.reduced[0].stride; });
  int32_t sum = 0;
  for (int32_t r = 0; r < grid.rows; ++r) sum += sum_run(in + r * nest.reduced[0].stride, grid.columns);
  return sum;
}

/// The reduced axes, as one where they are one run of taps.
TapGrid dense_grid_of(const MeanNest& nest) {
  const TapGrid grid = grid_of(nest);
  const bool is_dense = nest.reduced[0].stride == nest.reduced[1].count * nest.reduced[1].stride;
  return is_dense ? TapGrid{1, grid.rows * grid.columns, grid.step} : grid;
}

void mean_channels(const MeanParams& p, const int8_t* in, int8_t* out) {
  const RowCursor rows = {0, p.nest.reduced[0].stride, kNoRing};
  mean_of_channels(dense_grid_of(p.nest), in, rows, mean_codes(p.scale, 0, p.offset, p.range),
                   {out, static_cast<int32_t>(p.nest.kept[1].count)});
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
