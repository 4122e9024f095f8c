// SPDX-License-Identifier: Apache-2.0
//
// out[o] = sum_k w[o, k] * in[k] at every position of a map: int8 with int32 accumulators modulo 2^32, and float32.
#ifndef RUSHLIGHT_OPS_LINEAR_H
#define RUSHLIGHT_OPS_LINEAR_H

#include "../conv2d/conv2d_channels.h"
#include "rushlight/kernel.h"

namespace rush {

/// out[o] = clamp(requantize(bias[o] + sum w[o, k] * in[k]) + zero_point). Any sizes >= 1.
/// Operands: 0 in, 1 out, 2 weights (canonical_weight() in conv2d_packing.h), 3 a ChannelBlock for every four outputs.
struct LinearParams {
  Rows in;
  Rows out;
  uint16_t rows;
  uint16_t positions;  ///< in a row
  uint32_t in_features;
  uint32_t out_features;
  OutputCodes codes;
};

extern const KernelContract linear_s8_contract;
ExtentsOf linear_s8_extents;
Kernel linear_s8_scalar, linear_s8_dsp, linear_s8_mve;

/// float32: sums start at 0, each product is rounded, the bias comes last; NaN passes the clamp.
/// Operands, all 4-byte aligned: 0 in, 1 out, 2 weights [O,K], 3 bias [O].
struct LinearF32Params {
  Rows in;
  Rows out;
  uint16_t rows;
  uint16_t positions;
  uint32_t in_features;
  uint32_t out_features;
  float min;
  float max;
};

extern const KernelContract linear_f32_contract;
Kernel linear_f32_scalar;

}  // namespace rush
#endif
