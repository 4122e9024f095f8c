// SPDX-License-Identifier: Apache-2.0
//
// Four accumulators to codes at once: VMULH is the floor of the high half, VRSHL rounds half up.
#ifndef RUSHLIGHT_OPS_CONV2D_CHANNELS_MVE_H
#define RUSHLIGHT_OPS_CONV2D_CHANNELS_MVE_H

#include <arm_mve.h>

#include "conv2d_channels.h"

namespace rush {

/// Codes of a block's four channels for sums without their biases.
inline int32x4_t output_codes(const ChannelBlock& block, const OutputCodes& codes, int32x4_t sum) {
  int32x4_t acc = vaddq_s32(sum, vldrwq_s32(block.bias));
  const int32x4_t scale = vldrwq_s32(block.scale);
  int32x4_t shift = scale;
  if (codes.left_shift != 0) {
    const int32x4_t left = vmovlbq_s16(vmovlbq_s8(vreinterpretq_s8_s32(scale)));
    acc = vqshlq_s32(acc, vmaxq_s32(vaddq_n_s32(left, 1), vdupq_n_s32(0)));
    shift = vminq_s32(left, vdupq_n_s32(-1));
  }
  const int32x4_t code = vaddq_n_s32(vrshlq_s32(vmulhq_s32(acc, scale), shift), codes.zero_point);
  return vminq_s32(vmaxq_s32(code, vdupq_n_s32(codes.min)), vdupq_n_s32(codes.max));
}

/// As store_codes().
inline __attribute__((noinline)) void store_codes_mve(const ChannelBlock& block, const OutputCodes& codes,
                                                      BlockSums* sums, uint32_t count) {
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), sums->stride);
  const int32x4_t code = output_codes(block, codes, vldrwq_s32(sums->sum));
  vstrbq_scatter_offset_p_s32(sums->out, offsets, code, vctp32q(count));
  sums->out += count * sums->stride;
}

}  // namespace rush
#endif
