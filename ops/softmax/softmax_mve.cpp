// SPDX-License-Identifier: Apache-2.0
//
// The maximum by VMAXV, exponentials gathered four at a time and summed by VADDLV. Vectors whose elements do not lie
// side by side take the portable way.
#include <arm_mve.h>

#include "softmax.h"

namespace rush {
namespace {

int8_t max_of(const int8_t* in, int32_t count) {
  int8_t max = -128;
  for (; count > 0; count -= 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(count));
    max = vmaxvq_p_s8(max, vldrbq_z_s8(in, live), live);
    in += 16;
  }
  return max;
}

/// As exponential_of(), for four codes.
inline int32x4_t exponentials_of(const int32_t* table, int8_t max, const int8_t* in, mve_pred16_t live) {
  const int32x4_t distance = vsubq_s32(vdupq_n_s32(max), vldrbq_z_s32(in, live));
  const uint32x4_t index = vandq_u32(vreinterpretq_u32_s32(distance), vdupq_n_u32(0xff));
  return vldrwq_gather_shifted_offset_z_s32(table, index, live);
}

SoftmaxScale scale_of(const SoftmaxParams& p, const int32_t* table, const int8_t* in, int8_t max) {
  uint64_t sum = 0;
  for (int32_t left = static_cast<int32_t>(p.walk.count); left > 0; left -= 4) {
    const mve_pred16_t live = vctp32q(static_cast<uint32_t>(left));
    sum = vaddlvaq_p_u32(sum, vreinterpretq_u32_s32(exponentials_of(table, max, in, live)), live);
    in += 4;
  }
  return softmax_scale(sum, p);
}

void softmax_run(const SoftmaxParams& p, const int32_t* table, const int8_t* in, int8_t* out) {
  const int8_t max = max_of(in, static_cast<int32_t>(p.walk.count));
  const SoftmaxScale scale = scale_of(p, table, in, max);
  // Copied out before the loop: what stays in it may be cut short by tail predication (add_mve.cpp).
  const int32x4_t multiplier = vdupq_n_s32(scale.multiplier), zero_point = vdupq_n_s32(p.zero_point);
  const int32x4_t min = vdupq_n_s32(p.range.min), code_max = vdupq_n_s32(p.range.max);
  for (int32_t left = static_cast<int32_t>(p.walk.count); left > 0; left -= 4) {
    const mve_pred16_t live = vctp32q(static_cast<uint32_t>(left));
    const int32x4_t high = vmulhq_s32(exponentials_of(table, max, in, live), multiplier);
    const int32x4_t code = vaddq_s32(vrshlq_n_s32(high, -scale.shift), zero_point);
    vstrbq_p_s32(out, vminq_s32(vmaxq_s32(code, min), code_max), live);
    in += 4;
    out += 4;
  }
}

}  // namespace

void softmax_s8_mve(const void* params, void* const* operands, Band band) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  const int32_t* const table = static_cast<const int32_t*>(operands[1]);
  each_vector<int8_t>(p.walk, operands[0], operands[2], band, [&](const int8_t* in, int8_t* out) {
    if (p.walk.inner == 1) {
      softmax_run(p, table, in, out);
    } else {
      softmax_vector(p, table, in, out);
    }
  });
}

}  // namespace rush
