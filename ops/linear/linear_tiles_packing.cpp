// SPDX-License-Identifier: Apache-2.0
//
// Weights as linear_tiles_s8_mve reads them: blocks of eight outputs, in a block its chunks, in a chunk sixteen inputs
// of each output. Outputs and inputs that the layer does not have weigh 0.
#include "ops/linear/linear_tiles.h"

#include "ops/op_def.h"

namespace rush {
namespace {

const LinearParams& linear_of(const void* params) { return *static_cast<const LinearParams*>(params); }

size_t packed_count(Isa isa, const void* params) {
  const LinearParams& p = linear_of(params);
  if (isa != Isa::kMve) return linear_s8_host.packing.packed_count(isa, params);
  return size_t{linear_blocks(p)} * linear_chunks(p) * kLinearBlock * kLinearChunk;
}

int64_t tile_weight(const LinearParams& p, size_t i) {
  const size_t lane = i % kLinearChunk, in_block = i / kLinearChunk % kLinearBlock;
  const size_t chunk = i / (kLinearBlock * kLinearChunk), chunks = linear_chunks(p);
  const size_t input = chunk % chunks * kLinearChunk + lane, output = chunk / chunks * kLinearBlock + in_block;
  if (input >= p.in_features || output >= p.out_features) return -1;
  return static_cast<int64_t>(output * p.in_features + input);
}

int64_t index(Isa isa, const void* params, size_t i) {
  return isa == Isa::kMve ? tile_weight(linear_of(params), i) : linear_s8_host.packing.index(isa, params, i);
}

uint8_t inverted(Isa isa, const void* params, size_t i) {
  return isa == Isa::kMve ? uint8_t{0} : linear_s8_host.packing.inverted(isa, params, i);
}

// Both families' parameters begin with LinearParams.
const Packing kPacking = {
    .operand = 2,
    .packed_count = packed_count,
    .canonical_count = [](const void* params) { return linear_s8_host.packing.canonical_count(params); },
    .index = index,
    .inverted = inverted};

}  // namespace

const HostKernel linear_tiles_s8_host = {
    .contract = &linear_tiles_s8_contract, .run = linear_tiles_s8_scalar, .packing = kPacking, .stack_bytes = 256};
const HostKernel linear_one_scale_s8_host = {.contract = &linear_one_scale_s8_contract,
                                             .run = linear_one_scale_s8_scalar,
                                             .packing = kPacking,
                                             .stack_bytes = 320};

}  // namespace rush
