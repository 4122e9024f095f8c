// SPDX-License-Identifier: Apache-2.0
//
// Sixteen bytes a turn, the tail predicated.
#include <arm_mve.h>

#include "copy.h"

namespace rush {
namespace {

inline void copy_bytes(uint8_t* out, const uint8_t* in, uint32_t bytes) {
  for (int32_t left = static_cast<int32_t>(bytes); left > 0; left -= 16) {
    const mve_pred16_t live = vctp8q(static_cast<uint32_t>(left));
    vstrbq_p_u8(out, vldrbq_z_u8(in, live), live);
    in += 16;
    out += 16;
  }
}

}  // namespace

void copy_mve(const void* params, void* const* operands, Band band) {
  copy_segments(*static_cast<const CopyParams*>(params), operands, band, copy_bytes);
}

}  // namespace rush
