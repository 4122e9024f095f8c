// SPDX-License-Identifier: Apache-2.0
//
// Weights as conv2d_tiles_s8_mve reads them: blocks of four outputs, in a block its segments, in a segment its chunks,
// in a chunk sixteen inputs of each output. Outputs and inputs that the layer does not have weigh 0.
#include "ops/conv2d/conv2d_tiles.h"

#include "ops/conv2d/conv2d_packing.h"

namespace rush {
namespace {

const Conv2dParams& conv2d_of(const void* params) { return *static_cast<const Conv2dParams*>(params); }

size_t packed_count(Isa isa, const void* params) {
  const Conv2dParams& p = conv2d_of(params);
  if (isa != Isa::kMve) return conv2d_s8_host.packing.packed_count(isa, params);
  return size_t{tile_window_bytes(conv2d_segments(p))} * 4 * channel_blocks(p.out_channels);
}

int64_t tile_weight(const Conv2dParams& p, size_t i) {
  const ConvSegments segments = conv2d_segments(p);
  const size_t lane = i % kTileChunk, in_block = i / kTileChunk % 4, chunk = i / (4 * kTileChunk);
  const size_t chunks = tile_chunks(segments), segment = chunk / chunks % segments.count;
  const size_t input = chunk % chunks * kTileChunk + lane, output = chunk / (chunks * segments.count) * 4 + in_block;
  if (input >= segments.bytes || output >= p.out_channels) return -1;
  return static_cast<int64_t>((output * segments.count + segment) * segments.bytes + input);
}

int64_t index(Isa isa, const void* params, size_t i) {
  return isa == Isa::kMve ? tile_weight(conv2d_of(params), i) : conv2d_s8_host.packing.index(isa, params, i);
}

uint8_t inverted(Isa isa, const void* params, size_t i) {
  return isa == Isa::kMve ? uint8_t{0} : conv2d_s8_host.packing.inverted(isa, params, i);
}

uint32_t scalar_scratch(const void* params) {
  const Conv2dParams scalar = without_ring(conv2d_of(params));
  return conv2d_s8_host.scalar_scratch(&scalar);
}

const Packing kPacking = {
    .operand = 2,
    .packed_count = packed_count,
    .canonical_count = [](const void* params) { return conv2d_s8_host.packing.canonical_count(params); },
    .index = index,
    .inverted = inverted};

}  // namespace

const HostKernel conv2d_tiles_s8_host = {.contract = &conv2d_tiles_s8_contract,
                                         .run = conv2d_tiles_s8_scalar,
                                         .packing = kPacking,
                                         .scratch_operand = 4,
                                         .scalar_scratch = scalar_scratch,
                                         .stack_bytes = 448,
                                         .rows_at_once = 1,
                                         .positions_at_once = 0};
const HostKernel conv2d_rows_s8_host = {.contract = &conv2d_rows_s8_contract,
                                        .run = conv2d_rows_s8_scalar,
                                        .packing = kPacking,
                                        .scratch_operand = 4,
                                        .scalar_scratch = scalar_scratch,
                                        .stack_bytes = 448,
                                        .rows_at_once = 1};

}  // namespace rush
