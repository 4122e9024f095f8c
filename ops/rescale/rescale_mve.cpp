// SPDX-License-Identifier: Apache-2.0
//
// Sixteen look-ups a gather, the tail predicated. Whole vectors have a loop of their own, as in copy_mve.cpp.
#include <arm_mve.h>

#include "rescale.h"

namespace rush {

void rescale_s8_mve(const void* params, void* const* operands, Band band) {
  const RescaleParams& p = *static_cast<const RescaleParams*>(params);
  const uint8_t* const table = static_cast<const uint8_t*>(operands[1]);
  const uint32_t count = p.row_elements;
  for (int32_t y = band.begin; y < band.end; ++y) {
    const uint8_t* in = static_cast<const uint8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    uint8_t* out = static_cast<uint8_t*>(operands[2]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (uint32_t left = count / 16; left != 0; --left) {
      vstrbq_u8(out, vldrbq_gather_offset_u8(table, vldrbq_u8(in)));
      in += 16;
      out += 16;
    }
    const mve_pred16_t live = vctp8q(count % 16);
    vstrbq_p_u8(out, vldrbq_gather_offset_z_u8(table, vldrbq_z_u8(in, live), live), live);
  }
}

}  // namespace rush
