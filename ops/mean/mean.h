// SPDX-License-Identifier: Apache-2.0
//
// out[i,j] = mean of in over the reduced axes, rounded once. docs/arithmetic.md has the definition.
#ifndef RUSHLIGHT_OPS_MEAN_H
#define RUSHLIGHT_OPS_MEAN_H

#include "../avg_pool2d/average.h"
#include "rushlight/kernel.h"

namespace rush {

/// `count` elements that are `stride` elements apart, both at least 1.
struct MeanAxis {
  uint32_t count;
  uint32_t stride;
};

/// Two axes that are kept and two that are reduced, each outermost first; out is dense over the kept ones.
struct MeanNest {
  MeanAxis kept[2];
  MeanAxis reduced[2];
};

inline TapGrid grid_of(const MeanNest& nest) {
  return {static_cast<int32_t>(nest.reduced[0].count), static_cast<int32_t>(nest.reduced[1].count),
          static_cast<int32_t>(nest.reduced[1].stride)};
}

/// Operands: 0 in, 1 out. Any alignment.
struct MeanParams {
  MeanNest nest;
  AverageScale scale;
  int32_t offset;
  Range range;
};

inline int8_t code_of(const MeanParams& p, int32_t sum) {
  return static_cast<int8_t>(clamp_to(wrapping_add(mean_of(sum, p.scale), p.offset), p.range.min, p.range.max));
}

extern const KernelContract mean_s8_contract;
Kernel mean_s8_scalar, mean_s8_dsp, mean_s8_mve;

/// float32; operands 4-byte aligned. Sums of kMeanBlock elements in order, then the sum of these, so that rounding
/// errors stay small.
enum { kMeanBlock = 32 };

struct MeanF32Params {
  MeanNest nest;
  float reciprocal;
};

extern const KernelContract mean_f32_contract;
Kernel mean_f32_scalar;

}  // namespace rush
#endif
