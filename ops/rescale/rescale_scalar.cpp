// SPDX-License-Identifier: Apache-2.0
//
// The portable variant.
#include "rescale.h"

namespace rush {

void rescale_s8_scalar(const void* params, void* const* operands, Band band) {
  const RescaleParams& p = *static_cast<const RescaleParams*>(params);
  const uint8_t* const table = static_cast<const uint8_t*>(operands[1]);
  for (int32_t y = band.begin; y < band.end; ++y) {
    const uint8_t* in = static_cast<const uint8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    uint8_t* out = static_cast<uint8_t*>(operands[2]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (uint32_t i = 0; i < p.row_elements; ++i) out[i] = table[in[i]];
  }
}

}  // namespace rush
