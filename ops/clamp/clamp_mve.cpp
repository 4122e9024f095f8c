// SPDX-License-Identifier: Apache-2.0
//
// Sixteen codes a vector, the tail predicated. Whole vectors have a loop of their own, as in copy_mve.cpp.
#include <arm_mve.h>

#include "clamp.h"

namespace rush {

void clamp_s8_mve(const void* params, void* const* operands, Band band) {
  const ClampParams& p = *static_cast<const ClampParams*>(params);
  const int8x16_t min = vdupq_n_s8(static_cast<int8_t>(p.range.min));
  const int8x16_t max = vdupq_n_s8(static_cast<int8_t>(p.range.max));
  const uint32_t count = p.row_elements;
  for (int32_t y = band.begin; y < band.end; ++y) {
    const int8_t* in = static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (uint32_t left = count / 16; left != 0; --left) {
      vstrbq_s8(out, vminq_s8(vmaxq_s8(vldrbq_s8(in), min), max));
      in += 16;
      out += 16;
    }
    const mve_pred16_t live = vctp8q(count % 16);
    vstrbq_p_s8(out, vminq_s8(vmaxq_s8(vldrbq_z_s8(in, live), min), max), live);
  }
}

}  // namespace rush
