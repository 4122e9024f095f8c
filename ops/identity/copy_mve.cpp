// SPDX-License-Identifier: Apache-2.0
//
// Sixteen bytes a turn, the tail predicated. Whole vectors have a loop of their own: GCC 12 makes no tail-predicated
// ones.
#include <arm_mve.h>

#include "copy.h"

namespace rush {
namespace {

inline void copy_bytes(uint8_t* out, const uint8_t* in, uint32_t bytes) {
  for (uint32_t left = bytes / 16; left != 0; --left) {
    vstrbq_u8(out, vldrbq_u8(in));
    in += 16;
    out += 16;
  }
  if (bytes % 16 == 0) return;
  const mve_pred16_t live = vctp8q(bytes % 16);
  vstrbq_p_u8(out, vldrbq_z_u8(in, live), live);
}

}  // namespace

void copy_mve(const void* params, void* const* operands, Band band) {
  copy_segments(*static_cast<const CopyParams*>(params), operands, band, copy_bytes);
}

}  // namespace rush
