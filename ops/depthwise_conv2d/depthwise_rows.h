// SPDX-License-Identifier: Apache-2.0
//
// Depthwise 3x3 of the cores with SMLAD: depthwise_conv2d_s8 with the rows of four channels unpacked in scratch,
// channel by channel, so that two neighbouring columns are the halfwords of one word.
#ifndef RUSHLIGHT_OPS_DEPTHWISE_ROWS_H
#define RUSHLIGHT_OPS_DEPTHWISE_ROWS_H

#include "depthwise_conv2d.h"

namespace rush {

enum : uint32_t {
  kRowsAtOnce = 16,          ///< output rows of a chunk; half as many with stride 2
  kPlaneBytes = 72,          ///< one channel of two columns: a word for each of the chunk's input rows
  kColumnsBytes = 288,       ///< four channels of two columns
  kRowsChannelWeights = 12,  ///< for each kernel row w0 w1 w1 w2: SXTB16 gives (w0, w1) and (w1, w2)
};

/// As depthwise_conv2d_s8, for four or more channels, a kernel of 3x3 with dilation 1 and stride 1 or 2 both ways, all
/// codes from -128 to 127, and shifts from 1 to 22: then a rounding and the zero point can be added to the scaled sum
/// before it is shifted. Weights: for every four channels, for each m, for each channel, kRowsChannelWeights. Operand
/// 4: scratch.
struct DepthwiseRowsParams {
  DepthwiseConv2dParams depthwise;
};

/// Pairs of columns that are unpacked: what an even number of outputs reads.
inline uint32_t rows_column_pairs(const ConvGeometry& g) {
  return (((g.out_width + 1u) & ~1u) >> (2 - g.stride_width)) + 1;
}

extern const KernelContract depthwise_rows_s8_contract;
Kernel depthwise_rows_s8_scalar, depthwise_rows_s8_dsp;

}  // namespace rush
#endif
