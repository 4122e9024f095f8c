// SPDX-License-Identifier: Apache-2.0
//
// Four floats a vector. VCVTN rounds ties to even, saturates, and turns NaN into 0. Helium flushes subnormal
// numbers; with a scale as lower() admits it, such an input or product is far below one half. Parameters are copied
// out before the loop, as in add_mve.cpp.
#include <arm_mve.h>

#include "quantize.h"

namespace rush {

void quantize_f32_s8_mve(const void* params, void* const* operands, Band band) {
  const QuantizeParams& p = *static_cast<const QuantizeParams*>(params);
  const int32x4_t min = vdupq_n_s32(p.min), max = vdupq_n_s32(p.max);
  const float inverse_scale = p.inverse_scale;
  const int32_t zero_point = p.zero_point;
  const uint32_t count = p.row_elements;
  quantize_rows(p, operands, band, [=](int8_t* out, const float* in) {
    for (uint32_t i = 0; i < count; i += 4) {
      const mve_pred16_t live = vctp32q(count - i);
      const float32x4_t scaled = vmulq_n_f32(vldrwq_z_f32(in + i, live), inverse_scale);
      const int32x4_t code = vqaddq_n_s32(vcvtnq_s32_f32(scaled), zero_point);
      vstrbq_p_s32(out + i, vminq_s32(vmaxq_s32(code, min), max), live);
    }
  });
}

}  // namespace rush
