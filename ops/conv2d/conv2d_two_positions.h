// SPDX-License-Identifier: Apache-2.0
//
// The convolution of cores with a plain 32-bit multiply, where outputs come in eights: one multiplication makes the
// products of two positions.
#ifndef RUSHLIGHT_OPS_CONV2D_TWO_POSITIONS_H
#define RUSHLIGHT_OPS_CONV2D_TWO_POSITIONS_H

#include "conv2d.h"

namespace rush {

/// As conv2d_s8, with Conv2dParams, for out_channels in eights; `gather` is 0. Exact if the weights are
/// (conv2d_packing.h). Scratch holds the words of two windows, and their bytes.
extern const KernelContract conv2d_two_positions_s8_contract;
Kernel conv2d_two_positions_s8_scalar;

/// Inputs of a window, made up to an even number by one that weighs nothing.
inline uint32_t two_positions_inputs(const Conv2dParams& p) {
  const uint32_t taps = static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width;
  return (taps * p.in_channels + 1) & ~1u;
}

}  // namespace rush
#endif
