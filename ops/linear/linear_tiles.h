// SPDX-License-Identifier: Apache-2.0
//
// The linear layer of cores with Helium: inputs come in chunks of sixteen, outputs in blocks of eight. Weights of what
// is too much are 0 (linear_tiles_packing.cpp).
#ifndef RUSHLIGHT_OPS_LINEAR_TILES_H
#define RUSHLIGHT_OPS_LINEAR_TILES_H

#include "linear.h"

namespace rush {

enum : uint32_t { kLinearChunk = 16, kLinearBlock = 8 };

/// As linear_s8, with LinearParams; but no accumulator is shifted left, and there are two ChannelBlocks for every eight
/// outputs. Operand 4 is scratch for one position's inputs where they are not whole chunks.
extern const KernelContract linear_tiles_s8_contract;
Kernel linear_tiles_s8_scalar, linear_tiles_s8_mve;

/// The same where all outputs have one scale (conv2d_channels.h): operand 3 is their biases, made up to whole blocks.
struct LinearOneScaleParams {
  LinearParams layer;
  int32_t scale;
};

extern const KernelContract linear_one_scale_s8_contract;
Kernel linear_one_scale_s8_scalar, linear_one_scale_s8_mve;

inline uint32_t linear_chunks(const LinearParams& p) { return (p.in_features + kLinearChunk - 1) / kLinearChunk; }
inline uint32_t linear_blocks(const LinearParams& p) { return (p.out_features + kLinearBlock - 1) / kLinearBlock; }

}  // namespace rush
#endif
