// SPDX-License-Identifier: Apache-2.0
//
// depthwise_patch_s8_mve with weights that take no padding in flash. A channel's three rows become words of a column,
// whose first byte is zero.
#include <arm_mve.h>

#include "../conv2d/conv2d_rolled.h"
#include "depthwise_patch.h"

namespace rush {

/// Sixteen bytes for each of the channels, of which there is at least one.
extern "C" void rush_spread_weights(uint8_t* to, const uint8_t* from, uint32_t columns, uint32_t channels);

#ifndef RUSH_ASM
void rush_spread_weights(uint8_t* to, const uint8_t* from, uint32_t columns, uint32_t channels) {
  const mve_pred16_t live = vctp32q(columns);
  RUSH_ROLLED do {
    const uint32x4_t first = vldrbq_z_u32(from, live), second = vldrbq_z_u32(from + columns, live);
    const uint32x4_t third = vldrbq_z_u32(from + 2 * columns, live);
    vst1q_u32(reinterpret_cast<uint32_t*>(to), vsliq_n_u32(vsliq_n_u32(vshlq_n_u32(first, 8), second, 16), third, 24));
    from += 3 * columns;
    to += 16;
  }
  while (--channels != 0);
}
#endif

void depthwise_compact_s8_mve(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  uint8_t* const weights = static_cast<uint8_t*>(operands[4]);
  if (band.begin == 0 || p.keeps_weights == 0) {
    rush_spread_weights(weights, static_cast<const uint8_t*>(operands[2]), p.geometry.kernel_width, p.channels);
    weights[16 * p.channels] = 0;
  }
  void* const spread[] = {operands[0], operands[1], weights, operands[3], weights + spread_weights_bytes(p.channels)};
  depthwise_patch_s8_mve(params, spread, band);
}

}  // namespace rush
