// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution over NHWC maps of int8: the kernel family of a conv2d whose groups have one input channel.
#ifndef RUSHLIGHT_OPS_DEPTHWISE_CONV2D_H
#define RUSHLIGHT_OPS_DEPTHWISE_CONV2D_H

#include "../conv2d/conv2d_channels.h"
#include "../conv2d/conv2d_geometry.h"
#include "rushlight/kernel.h"

namespace rush {

/// out[y, x, c * multiplier + m] = clamp(requantize(bias + sum w[c, m, i, j] * in[..., c]) + zero point), accumulated
/// modulo 2^32, taps outside the map being zero_point. Any sizes >= 1. Operands: 0 in, 1 out, 2 weights
/// (depthwise_conv2d_op.cpp), 3 channels: for each m a ChannelBlock for every four c.
struct DepthwiseConv2dParams {
  ConvGeometry geometry;
  uint16_t channels;
  uint16_t multiplier;
  int8_t zero_point;      ///< of the input
  uint8_t keeps_weights;  ///< depthwise_compact_s8 only. 1: bands find in scratch what the one from row 0 put there
  uint8_t reserved[2];
  OutputCodes codes;
};

bool depthwise_conv2d_s8_extents(const void* params, Extents* extents);
extern const KernelContract depthwise_conv2d_s8_contract;
Kernel depthwise_conv2d_s8_scalar, depthwise_conv2d_s8_dsp, depthwise_conv2d_s8_mve;

}  // namespace rush
#endif
