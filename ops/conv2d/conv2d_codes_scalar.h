// SPDX-License-Identifier: Apache-2.0
//
// From sums to codes, for the portable variants: up to eight channels a call, so that what they share is fetched once.
#ifndef RUSHLIGHT_OPS_CONV2D_CODES_SCALAR_H
#define RUSHLIGHT_OPS_CONV2D_CODES_SCALAR_H

#include "conv2d_channels.h"

// Whether the loops of conv2d_loops_asm.h are linked.
#ifdef RUSH_ASM
#define RUSH_SCALAR_LOOPS 1
#else
#define RUSH_SCALAR_LOOPS 0
#endif

namespace rush {

/// Sums of neighbouring channels, biases included, and where their codes go.
struct CodeSums {
  int32_t sum[8];
  int8_t* out;
  uint32_t stride;  ///< bytes between codes
};

/// sums[j] = bias of channel j + offset, modulo 2^32.
inline void start_sums(const ChannelBlock* block, int32_t offset, int32_t* sums, uint32_t count) {
  RUSH_ROLLED for (; count > 4; count -= 4, ++block) {
    RUSH_ROLLED for (uint32_t j = 0; j < 4; ++j)* sums++ = wrapping_add(block->bias[j], offset);
  }
  RUSH_ROLLED for (uint32_t j = 0; j < count; ++j) sums[j] = wrapping_add(block->bias[j], offset);
}

#if RUSH_SCALAR_LOOPS
extern "C" void rush_store_sums(const ChannelBlock* block, const OutputCodes* codes, CodeSums* sums, uint32_t count);

/// Stores the codes of the first `count` <= 8 channels of some blocks, at least one, and moves `out` behind them.
inline void store_sums(const ChannelBlock* block, const OutputCodes& codes, CodeSums* sums, uint32_t count) {
  rush_store_sums(block, &codes, sums, count);
}
#else
/// The code of a sum whose scale shifts right: floor((floor(hi / 2^(r-1)) + 1) / 2) is the rounded shift by r, and the
/// scale's low byte, -r, inverted is r - 1.
inline int32_t shifted_code(int32_t sum, int32_t scale, const OutputCodes& codes) {
  const int32_t half_steps = multiply_high(sum, scale) >> (~static_cast<uint32_t>(scale) & 31u);
  return clamp_to(((half_steps + 1) >> 1) + codes.zero_point, codes.min, codes.max);
}

/// The same for any scale.
inline int32_t any_code(int32_t sum, int32_t scale, const OutputCodes& codes) {
  return clamp_to(requantize_any(sum, scale, shift_of(scale)) + codes.zero_point, codes.min, codes.max);
}

/// Stores the codes of the first `count` <= 8 channels of some blocks, at least one, and moves `out` behind them. Not
/// inlined: one copy serves all kernels.
inline __attribute__((noinline)) void store_sums(const ChannelBlock* block, const OutputCodes& codes, CodeSums* sums,
                                                 uint32_t count) {
  const int32_t* sum = sums->sum;
  int8_t* out = sums->out;
  RUSH_ROLLED for (; count != 0; ++block) {
    const int32_t* scale = block->scale;
    const uint32_t lanes = count < 4 ? count : 4;
    count -= lanes;
    RUSH_ROLLED for (const int32_t* const end = scale + lanes; scale != end; ++scale, ++sum, out += sums->stride) {
      *out = static_cast<int8_t>(codes.left_shift != 0 ? any_code(*sum, *scale, codes)
                                                       : shifted_code(*sum, *scale, codes));
    }
  }
  sums->out = out;
}
#endif

}  // namespace rush
#endif
