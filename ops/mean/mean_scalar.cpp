// SPDX-License-Identifier: Apache-2.0
//
// The portable variants.
#include "mean.h"

namespace rush {

void mean_s8_scalar(const void* params, void* const* operands, Band) {
  const MeanParams& p = *static_cast<const MeanParams*>(params);
  const TapGrid grid = grid_of(p.nest);
  int8_t* out = static_cast<int8_t*>(operands[1]);
  for (uint32_t i = 0; i < p.nest.kept[0].count; ++i) {
    const int8_t* in = static_cast<const int8_t*>(operands[0]) + i * p.nest.kept[0].stride;
    for (uint32_t j = 0; j < p.nest.kept[1].count; ++j) {
      *out++ = code_of(p, sum_taps(grid, [&](int32_t r) { return in + r * p.nest.reduced[0].stride; }));
      in += p.nest.kept[1].stride;
    }
  }
}

namespace {

float sum_floats(const float* in, const MeanNest& nest) {
  float total = 0, block = 0;
  uint32_t left = kMeanBlock;
  for (uint32_t r = 0; r < nest.reduced[0].count; ++r) {
    const float* tap = in + r * nest.reduced[0].stride;
    for (uint32_t i = 0; i < nest.reduced[1].count; ++i) {
      block += *tap;
      tap += nest.reduced[1].stride;
      if (--left != 0) continue;
      total += block;
      block = 0;
      left = kMeanBlock;
    }
  }
  return total + block;
}

}  // namespace

void mean_f32_scalar(const void* params, void* const* operands, Band) {
  const MeanF32Params& p = *static_cast<const MeanF32Params*>(params);
  float* out = static_cast<float*>(operands[1]);
  for (uint32_t i = 0; i < p.nest.kept[0].count; ++i) {
    const float* in = static_cast<const float*>(operands[0]) + i * p.nest.kept[0].stride;
    for (uint32_t j = 0; j < p.nest.kept[1].count; ++j) {
      *out++ = sum_floats(in, p.nest) * p.reciprocal;
      in += p.nest.kept[1].stride;
    }
  }
}

}  // namespace rush
