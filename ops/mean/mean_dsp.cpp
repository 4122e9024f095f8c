// SPDX-License-Identifier: Apache-2.0
//
// Over space: four neighbouring channels at a time. Over neighbouring elements: USADA8 against zero adds four bytes
// that a flipped sign bit made positive.
#include "../avg_pool2d/average_dsp.h"
#include "mean.h"

namespace rush {
namespace {

/// in[0] + ... + in[count - 1].
int32_t sum_run(const int8_t* in, int32_t count) {
  int32_t i = 0, sum = 0;
  uint32_t biased = 0;
  for (; i + 4 <= count; i += 4) {
    uint32_t four;
    __builtin_memcpy(&four, in + i, 4);
    biased = __usada8(four ^ 0x80808080u, 0, biased);
  }
  sum = static_cast<int32_t>(biased) - 128 * i;
#pragma GCC unroll 1
  for (; i < count; ++i) sum += in[i];
  return sum;
}

int32_t sum_one(const int8_t* in, const MeanNest& nest) {
  const TapGrid grid = grid_of(nest);
  if (grid.step != 1) return sum_taps(grid, [&](int32_t r) { return in + r * nest.reduced[0].stride; });
  int32_t sum = 0;
  for (int32_t r = 0; r < grid.rows; ++r) sum += sum_run(in + r * nest.reduced[0].stride, grid.columns);
  return sum;
}

/// Means of the inner kept axis.
void mean_row(const MeanParams& p, const int8_t* in, int8_t* out) {
  const uint32_t count = p.nest.kept[1].count, stride = p.nest.kept[1].stride;
  const TapGrid grid = grid_of(p.nest);
  uint32_t j = 0;
  for (; stride == 1 && j + 4 <= count; j += 4) {
    const FourSums sums = sum_taps4(grid, [&](int32_t r) { return in + j + r * p.nest.reduced[0].stride; });
    for (uint32_t i = 0; i < 4; ++i) out[j + i] = code_of(p, sums.channel[i]);
  }
#pragma GCC unroll 1
  for (; j < count; ++j) out[j] = code_of(p, sum_one(in + j * stride, p.nest));
}

}  // namespace

void mean_s8_dsp(const void* params, void* const* operands, Band) {
  const MeanParams& p = *static_cast<const MeanParams*>(params);
  for (uint32_t i = 0; i < p.nest.kept[0].count; ++i) {
    mean_row(p, static_cast<const int8_t*>(operands[0]) + i * p.nest.kept[0].stride,
             static_cast<int8_t*>(operands[1]) + i * p.nest.kept[1].count);
  }
}

}  // namespace rush
