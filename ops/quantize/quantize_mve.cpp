// SPDX-License-Identifier: Apache-2.0
//
// Four floats a vector. VCVTN rounds ties to even, saturates, and turns NaN into 0. Helium flushes subnormal
// numbers; with a scale as lower() admits it, such an input or product is far below one half. Parameters are copied
// out before the loops, as in add_mve.cpp.
#include <arm_mve.h>

#include "quantize.h"

namespace rush {
namespace {

struct Codes {
  float inverse_scale;
  int32_t zero_point;
  int32x4_t min;
  int32x4_t max;
};

inline int32x4_t codes_of(float32x4_t in, const Codes& codes) {
  const int32x4_t code = vqaddq_n_s32(vcvtnq_s32_f32(vmulq_n_f32(in, codes.inverse_scale)), codes.zero_point);
  return vminq_s32(vmaxq_s32(code, codes.min), codes.max);
}

}  // namespace

void quantize_f32_s8_mve(const void* params, void* const* operands, Band band) {
  const QuantizeParams& p = *static_cast<const QuantizeParams*>(params);
  const Codes codes = {p.inverse_scale, p.zero_point, vdupq_n_s32(p.min), vdupq_n_s32(p.max)};
  const uint32_t count = p.row_elements;
  quantize_rows(p, operands, band, [=](int8_t* out, const float* in) {
    for (uint32_t left = count / 4; left != 0; --left) {
      vstrbq_s32(out, codes_of(vldrwq_f32(in), codes));
      in += 4;
      out += 4;
    }
    const mve_pred16_t live = vctp32q(count % 4);
    vstrbq_p_s32(out, codes_of(vldrwq_z_f32(in, live), codes), live);
  });
}

}  // namespace rush
