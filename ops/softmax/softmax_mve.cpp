// SPDX-License-Identifier: Apache-2.0
//
// The maximum sixteen elements at a time, exponentials and codes four.
#include <arm_mve.h>

#include "softmax.h"

namespace rush {

/// What the loops need beside a vector of neighbouring elements. The assembly knows the order.
struct SoftmaxRun {
  const SoftmaxTable* table;
  uint32_t count;  ///< of elements
  int32_t zero_point;
  Range range;
  int32_t max;  ///< of the elements, once there is a sum
  int32_t multiplier;
  int32_t shift;  ///< negative: to the right
};

/// The sum of the exponentials, then the codes.
extern "C" uint64_t rush_softmax_sum(SoftmaxRun* run, const int8_t* in);
extern "C" void rush_softmax_codes(const SoftmaxRun* run, const int8_t* in, int8_t* out);

#ifndef RUSH_ASM
namespace {

int8_t max_of(const int8_t* in, uint32_t count) {
  int8_t max = -128;
  for (uint32_t i = 0; i < count; i += 16) {
    const mve_pred16_t live = vctp8q(count - i);
    max = vmaxvq_p_s8(max, vldrbq_z_s8(in + i, live), live);
  }
  return max;
}

/// As softmax_exponential(), for four codes.
inline int32x4_t exponentials_of(const SoftmaxRun& run, const int8_t* in, mve_pred16_t live) {
  const uint32x4_t distance = vreinterpretq_u32_s32(vsubq_s32(vdupq_n_s32(run.max), vldrbq_z_s32(in, live)));
  const uint32x4_t coarse = vshrq_n_u32(vshlq_n_u32(distance, 24), 28),
                   fine = vshrq_n_u32(vshlq_n_u32(distance, 28), 28);
  return vmulhq_s32(vldrwq_gather_shifted_offset_z_s32(run.table->coarse, coarse, live),
                    vldrwq_gather_shifted_offset_z_s32(run.table->fine, fine, live));
}

}  // namespace

uint64_t rush_softmax_sum(SoftmaxRun* run, const int8_t* in) {
  run->max = max_of(in, run->count);
  const SoftmaxRun copy = *run;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < copy.count; i += 4) {
    const mve_pred16_t live = vctp32q(copy.count - i);
    sum = vaddlvaq_p_u32(sum, vreinterpretq_u32_s32(exponentials_of(copy, in + i, live)), live);
  }
  return sum;
}

void rush_softmax_codes(const SoftmaxRun* run, const int8_t* in, int8_t* out) {
  const SoftmaxRun copy = *run;
  for (uint32_t i = 0; i < copy.count; i += 4) {
    const mve_pred16_t live = vctp32q(copy.count - i);
    const int32x4_t high = vmulhq_s32(exponentials_of(copy, in + i, live), vdupq_n_s32(copy.multiplier));
    const int32x4_t code = vaddq_n_s32(vrshlq_n_s32(high, copy.shift), copy.zero_point);
    const int32x4_t clamped = vminq_s32(vmaxq_s32(code, vdupq_n_s32(copy.range.min)), vdupq_n_s32(copy.range.max));
    vstrbq_p_s32(out + i, clamped, live);
  }
}
#endif

void softmax_dense_s8_mve(const void* params, void* const* operands, Band band) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  SoftmaxRun run = {static_cast<const SoftmaxTable*>(operands[1]), p.walk.count, p.zero_point, p.range, 0, 0, 0};
  each_vector<int8_t>(p.walk, operands[0], operands[2], band, [&](const int8_t* in, int8_t* out) {
    const SoftmaxScale scale = softmax_scale(rush_softmax_sum(&run, in), p);
    run.multiplier = scale.multiplier;
    run.shift = -scale.shift;
    rush_softmax_codes(&run, in, out);
  });
}

}  // namespace rush
