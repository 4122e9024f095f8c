// SPDX-License-Identifier: Apache-2.0
//
// Sixteen codes a vector, the tail predicated.
#include <arm_mve.h>

#include "clamp.h"

namespace rush {

void clamp_s8_mve(const void* params, void* const* operands, Band band) {
  const ClampParams& p = *static_cast<const ClampParams*>(params);
  const int8x16_t min = vdupq_n_s8(static_cast<int8_t>(p.range.min));
  const int8x16_t max = vdupq_n_s8(static_cast<int8_t>(p.range.max));
  for (int32_t y = band.begin; y < band.end; ++y) {
    const int8_t* in = static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (int32_t left = static_cast<int32_t>(p.row_elements); left > 0; left -= 16) {
      const mve_pred16_t live = vctp8q(static_cast<uint32_t>(left));
      vstrbq_p_s8(out, vminq_x_s8(vmaxq_x_s8(vldrbq_z_s8(in, live), min, live), max, live), live);
      in += 16;
      out += 16;
    }
  }
}

}  // namespace rush
