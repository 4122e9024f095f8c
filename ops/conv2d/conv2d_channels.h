// SPDX-License-Identifier: Apache-2.0
//
// From accumulators to output codes: bias, multiplier and shift of each output channel.
#ifndef RUSHLIGHT_OPS_CONV2D_CHANNELS_H
#define RUSHLIGHT_OPS_CONV2D_CHANNELS_H

#include "conv2d_rolled.h"
#include "rushlight/arithmetic.h"

namespace rush {

/// The part of a params struct that says which codes come out.
struct OutputCodes {
  int8_t zero_point;
  int8_t min;
  int8_t max;
  uint8_t left_shift;  ///< 1 if some channel's shift is below 1, so that accumulators must be shifted left first

  bool are_all() const { return min == -128 && max == 127; }
};

/// Four output channels as they lie in the image. The input's zero point is folded into the bias. `scale` is a
/// multiplier whose low byte is also the shift, negated: a vector of scales is an operand of VMULH and of VRSHL as it
/// is.
struct ChannelBlock {
  int32_t bias[4];
  int32_t scale[4];
};

/// How far a scale shifts right.
inline int32_t shift_of(int32_t scale) { return -static_cast<int8_t>(scale & 0xff); }

/// Blocks of `channels` channels, the last one padded.
inline uint32_t channel_blocks(uint32_t channels) { return (channels + 3) >> 2; }

/// The code of a block's channel `lane` for a sum without its bias.
inline int8_t output_code(const ChannelBlock& block, uint32_t lane, const OutputCodes& codes, int32_t sum) {
  const int32_t acc = wrapping_add(sum, block.bias[lane]);
  const int32_t code = requantize_any(acc, block.scale[lane], shift_of(block.scale[lane])) + codes.zero_point;
  return static_cast<int8_t>(clamp_to(code, codes.min, codes.max));
}

/// Up to four sums without their biases, one for each channel of a block, and where their codes go.
struct BlockSums {
  int32_t sum[4];
  int8_t* out;
  uint32_t stride;  ///< bytes between codes
};

/// Stores the codes of the first `count` channels and moves `out` behind them. Not inlined: one copy serves all
/// kernels.
inline __attribute__((noinline)) void store_codes(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums,
                                                  uint32_t count) {
  RUSH_ROLLED for (uint32_t i = 0; i < count; ++i, sums->out += sums->stride) {
    *sums->out = output_code(block, i, codes, sums->sum[i]);
  }
}

}  // namespace rush
#endif
