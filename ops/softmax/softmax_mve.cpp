// SPDX-License-Identifier: Apache-2.0
//
// Four elements at a time, wherever they lie: codes are gathered, and so are their exponentials.
#include <arm_mve.h>

#include "softmax.h"

namespace rush {
namespace {

/// Elements i to i + 3 of a vector, `lanes` apart; 0 for those that are not live.
struct Codes {
  const int8_t* in;
  uint32x4_t lanes;
  uint32_t step;

  int32x4_t at(uint32_t i, mve_pred16_t live) const { return vldrbq_gather_offset_z_s32(in + i * step, lanes, live); }
};

/// As exponential_of(), for four codes.
inline int32x4_t exponentials_of(const int32_t* table, int32x4_t max, int32x4_t x) {
  const uint32x4_t index = vandq_u32(vreinterpretq_u32_s32(vsubq_s32(max, x)), vdupq_n_u32(0xff));
  return vldrwq_gather_shifted_offset_s32(table, index);
}

[[gnu::noinline]] void softmax_run(const SoftmaxParams& p, const int32_t* table, const int8_t* in, int8_t* out) {
  const uint32_t count = p.walk.count, step = p.walk.inner;
  const Codes codes = {in, vmulq_n_u32(vidupq_n_u32(0, 1), step), step};
  int32x4_t max = vdupq_n_s32(-128);
  for (uint32_t i = 0; i < count; i += 4) {
    const mve_pred16_t live = vctp32q(count - i);
    max = vmaxq_m_s32(max, max, codes.at(i, live), live);
  }
  max = vdupq_n_s32(vmaxvq_s32(-128, max));
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; i += 4) {
    const mve_pred16_t live = vctp32q(count - i);
    const int32x4_t exponentials = exponentials_of(table, max, codes.at(i, live));
    sum = vaddlvaq_p_u32(sum, vreinterpretq_u32_s32(exponentials), live);
  }
  const SoftmaxScale scale = softmax_scale(sum, p);
  for (uint32_t i = 0; i < count; i += 4) {
    const mve_pred16_t live = vctp32q(count - i);
    const int32x4_t high = vmulhq_s32(exponentials_of(table, max, codes.at(i, live)), vdupq_n_s32(scale.multiplier));
    const int32x4_t code = vaddq_n_s32(vrshlq_n_s32(high, -scale.shift), p.zero_point);
    const int32x4_t clamped = vminq_s32(vmaxq_s32(code, vdupq_n_s32(p.range.min)), vdupq_n_s32(p.range.max));
    vstrbq_scatter_offset_p_s32(out + i * step, codes.lanes, clamped, live);
  }
}

}  // namespace

void softmax_s8_mve(const void* params, void* const* operands, Band band) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  const int32_t* const table = static_cast<const int32_t*>(operands[1]);
  each_vector<int8_t>(p.walk, operands[0], operands[2], band,
                      [&](const int8_t* in, int8_t* out) { softmax_run(p, table, in, out); });
}

}  // namespace rush
