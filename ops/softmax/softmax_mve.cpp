// SPDX-License-Identifier: Apache-2.0
//
// The maximum by VMAXV, exponentials gathered four at a time and summed by VADDLV. Vectors whose elements do not lie
// side by side take the portable way.
#include <arm_mve.h>

#include "softmax.h"

namespace rush {
namespace {

int8_t max_of(const int8_t* in, uint32_t count) {
  int8_t max = -128;
  for (uint32_t left = count / 16; left != 0; --left) {
    max = vmaxvq_s8(max, vldrbq_s8(in));
    in += 16;
  }
  const mve_pred16_t live = vctp8q(count % 16);
  return vmaxvq_p_s8(max, vldrbq_z_s8(in, live), live);
}

/// As exponential_of(), for four codes.
inline int32x4_t exponentials_of(const int32_t* table, int32x4_t max, int32x4_t x) {
  const uint32x4_t index = vandq_u32(vreinterpretq_u32_s32(vsubq_s32(max, x)), vdupq_n_u32(0xff));
  return vldrwq_gather_shifted_offset_s32(table, index);
}

/// Lanes that are not live are codes too: their exponentials may be read.
SoftmaxScale scale_of(const SoftmaxParams& p, const int32_t* table, const int8_t* in, int32x4_t max) {
  const uint32_t count = p.walk.count;
  uint64_t sum = 0;
  for (uint32_t left = count / 4; left != 0; --left) {
    sum = vaddlvaq_u32(sum, vreinterpretq_u32_s32(exponentials_of(table, max, vldrbq_s32(in))));
    in += 4;
  }
  const mve_pred16_t live = vctp32q(count % 4);
  const int32x4_t last = exponentials_of(table, max, vldrbq_z_s32(in, live));
  return softmax_scale(vaddlvaq_p_u32(sum, vreinterpretq_u32_s32(last), live), p);
}

/// How exponentials become codes.
struct Codes {
  int32x4_t multiplier;
  int32x4_t min;
  int32x4_t max;
  int32_t shift;
  int32_t zero_point;

  int32x4_t of(int32x4_t exponentials) const {
    const int32x4_t code = vrshlq_n_s32(vmulhq_s32(exponentials, multiplier), shift);
    return vminq_s32(vmaxq_s32(vaddq_n_s32(code, zero_point), min), max);
  }
};

void softmax_run(const SoftmaxParams& p, const int32_t* table, const int8_t* in, int8_t* out) {
  const uint32_t count = p.walk.count;
  const int32x4_t max = vdupq_n_s32(max_of(in, count));
  const SoftmaxScale scale = scale_of(p, table, in, max);
  const Codes codes = {vdupq_n_s32(scale.multiplier), vdupq_n_s32(p.range.min), vdupq_n_s32(p.range.max), -scale.shift,
                       p.zero_point};
  for (uint32_t left = count / 4; left != 0; --left) {
    vstrbq_s32(out, codes.of(exponentials_of(table, max, vldrbq_s32(in))));
    in += 4;
    out += 4;
  }
  const mve_pred16_t live = vctp32q(count % 4);
  vstrbq_p_s32(out, codes.of(exponentials_of(table, max, vldrbq_z_s32(in, live))), live);
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
