// SPDX-License-Identifier: Apache-2.0
//
// Sixteen look-ups a gather, the tail predicated.
#include <arm_mve.h>

#include "rescale.h"

namespace rush {

void rescale_s8_mve(const void* params, void* const* operands, Band band) {
  const RescaleParams& p = *static_cast<const RescaleParams*>(params);
  const uint8_t* const table = static_cast<const uint8_t*>(operands[1]);
  for (int32_t y = band.begin; y < band.end; ++y) {
    const uint8_t* in = static_cast<const uint8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    uint8_t* out = static_cast<uint8_t*>(operands[2]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (int32_t left = static_cast<int32_t>(p.row_elements); left > 0; left -= 16) {
      const mve_pred16_t live = vctp8q(static_cast<uint32_t>(left));
      vstrbq_p_u8(out, vldrbq_gather_offset_z_u8(table, vldrbq_z_u8(in, live), live), live);
      in += 16;
      out += 16;
    }
  }
}

}  // namespace rush
