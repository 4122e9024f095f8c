// SPDX-License-Identifier: Apache-2.0
//
// Four codes a vector, widened by the load. Parameters are copied out before the loops, as in add_mve.cpp.
#include <arm_mve.h>

#include "dequantize.h"

namespace rush {

void dequantize_s8_f32_mve(const void* params, void* const* operands, Band band) {
  const DequantizeParams& p = *static_cast<const DequantizeParams*>(params);
  const float scale = p.scale;
  const int32_t zero_point = p.zero_point;
  const uint32_t count = p.row_elements;
  dequantize_rows(p, operands, band, [=](float* out, const int8_t* in) {
    for (uint32_t left = count / 4; left != 0; --left) {
      vstrwq_f32(out, vmulq_n_f32(vcvtq_f32_s32(vsubq_n_s32(vldrbq_s32(in), zero_point)), scale));
      in += 4;
      out += 4;
    }
    const mve_pred16_t live = vctp32q(count % 4);
    const int32x4_t code = vsubq_n_s32(vldrbq_z_s32(in, live), zero_point);
    vstrwq_p_f32(out, vmulq_n_f32(vcvtq_f32_s32(code), scale), live);
  });
}

}  // namespace rush
