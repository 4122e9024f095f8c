// SPDX-License-Identifier: Apache-2.0
//
// The maximum sixteen elements at a time, exponentials and codes four.
#include <arm_mve.h>

#include "softmax.h"

namespace rush {

/// A vector of neighbouring elements. The assembly knows the order.
struct SoftmaxRun {
  const int8_t* in;
  int8_t* out;
  const int32_t* table;
  uint32_t last;   ///< entry of the table
  uint32_t count;  ///< of elements
  int32_t max;     ///< of the elements, once there are sums
  int32_t multiplier;
  int32_t shift;  ///< negative: to the right
  int32_t zero_point;
  Range range;
};

/// The sum of the exponentials, then the codes.
extern "C" uint64_t rush_softmax_sum(SoftmaxRun* run);
extern "C" void rush_softmax_codes(const SoftmaxRun* run);

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

/// As Exponentials::of(), for four codes.
inline int32x4_t exponentials_of(const SoftmaxRun& run, const int8_t* in, mve_pred16_t live) {
  const int32x4_t distance = vsubq_s32(vdupq_n_s32(run.max), vldrbq_z_s32(in, live));
  const uint32x4_t index = vminq_u32(vreinterpretq_u32_s32(distance), vdupq_n_u32(run.last));
  return vldrwq_gather_shifted_offset_z_s32(run.table, index, live);
}

}  // namespace

uint64_t rush_softmax_sum(SoftmaxRun* run) {
  run->max = max_of(run->in, run->count);
  const SoftmaxRun copy = *run;
  uint64_t sum = 0;
  for (uint32_t i = 0; i < copy.count; i += 4) {
    const mve_pred16_t live = vctp32q(copy.count - i);
    sum = vaddlvaq_p_u32(sum, vreinterpretq_u32_s32(exponentials_of(copy, copy.in + i, live)), live);
  }
  return sum;
}

void rush_softmax_codes(const SoftmaxRun* run) {
  const SoftmaxRun copy = *run;
  for (uint32_t i = 0; i < copy.count; i += 4) {
    const mve_pred16_t live = vctp32q(copy.count - i);
    const int32x4_t high = vmulhq_s32(exponentials_of(copy, copy.in + i, live), vdupq_n_s32(copy.multiplier));
    const int32x4_t code = vaddq_n_s32(vrshlq_n_s32(high, copy.shift), copy.zero_point);
    const int32x4_t clamped = vminq_s32(vmaxq_s32(code, vdupq_n_s32(copy.range.min)), vdupq_n_s32(copy.range.max));
    vstrbq_p_s32(copy.out + i, clamped, live);
  }
}
#endif

namespace {

void softmax_run(const SoftmaxParams& p, const Exponentials& table, const int8_t* in, int8_t* out) {
  SoftmaxRun run = {in, out, table.table, table.last, p.walk.count, 0, 0, 0, p.zero_point, p.range};
  const SoftmaxScale scale = softmax_scale(rush_softmax_sum(&run), p);
  run.multiplier = scale.multiplier;
  run.shift = -scale.shift;
  rush_softmax_codes(&run);
}

}  // namespace

void softmax_dense_s8_mve(const void* params, void* const* operands, Band band) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  const Exponentials table = {static_cast<const int32_t*>(operands[1]), last_entry(p)};
  each_vector<int8_t>(p.walk, operands[0], operands[2], band,
                      [&](const int8_t* in, int8_t* out) { softmax_run(p, table, in, out); });
}

}  // namespace rush
