// SPDX-License-Identifier: Apache-2.0
//
// Four codes a vector, widened by the load.
#include <arm_mve.h>

#include "dequantize.h"

namespace rush {

void dequantize_s8_f32_mve(const void* params, void* const* operands, Band band) {
  const DequantizeParams& p = *static_cast<const DequantizeParams*>(params);
  dequantize_rows(p, operands, band, [&p](float* out, const int8_t* in) {
    for (uint32_t i = 0; i < p.row_elements; i += 4) {
      const mve_pred16_t live = vctp32q(p.row_elements - i);
      const int32x4_t code = vsubq_n_s32(vldrbq_z_s32(in + i, live), p.zero_point);
      vstrwq_p_f32(out + i, vmulq_n_f32(vcvtq_f32_s32(code), p.scale), live);
    }
  });
}

}  // namespace rush
