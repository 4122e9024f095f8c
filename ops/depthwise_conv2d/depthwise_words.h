// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution of cores with a plain 32-bit multiply, for channels in fours.
#ifndef RUSHLIGHT_OPS_DEPTHWISE_WORDS_H
#define RUSHLIGHT_OPS_DEPTHWISE_WORDS_H

#include "depthwise_conv2d.h"

namespace rush {

enum : uint32_t { kWordsTaps = 25 };

/// As depthwise_conv2d_s8, for channels in fours, codes without left shift and windows of at most kWordsTaps taps.
/// Operands as there, but 0 is 4-byte aligned.
extern const KernelContract depthwise_words_s8_contract;
Kernel depthwise_words_s8_scalar;

/// But for the alignment of operands.
inline bool fits_words(const DepthwiseConv2dParams& p) {
  const uint32_t taps = static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width;
  return ((p.channels | p.geometry.in.row_bytes) & 3u) == 0 && taps <= kWordsTaps && p.codes.left_shift == 0;
}

}  // namespace rush
#endif
