// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "ops/depthwise_conv2d/depthwise_rows.h"
#include "ops/op_def.h"

namespace rush {
namespace {

const DepthwiseConv2dParams& params_of(const void* params) {
  return static_cast<const DepthwiseRowsParams*>(params)->depthwise;
}

size_t packed_count(Isa isa, const void* params) {
  const DepthwiseConv2dParams& p = params_of(params);
  if (isa == Isa::kScalar) return depthwise_conv2d_s8_host.packing.packed_count(isa, &p);
  return size_t{p.channels} * p.multiplier * kRowsChannelWeights;
}

int64_t index(Isa isa, const void* params, size_t i) {
  const DepthwiseConv2dParams& p = params_of(params);
  if (isa == Isa::kScalar) return depthwise_conv2d_s8_host.packing.index(isa, &p, i);
  const size_t entry = i / kRowsChannelWeights, byte = i % kRowsChannelWeights;
  const size_t first = entry / (4 * p.multiplier) * 4, width = std::min<size_t>(4, p.channels - first);
  const size_t in_block = entry - first * p.multiplier;
  const size_t channel = first + in_block % width, m = in_block / width;
  const size_t column = (byte % 4 + 1) / 2;
  return static_cast<int64_t>((channel * p.multiplier + m) * 9 + byte / 4 * 3 + column);
}

}  // namespace

const HostKernel depthwise_rows_s8_host = {
    .contract = &depthwise_rows_s8_contract,
    .run = depthwise_rows_s8_scalar,
    .packing = {.operand = 2,
                .packed_count = packed_count,
                .canonical_count =
                    [](const void* params) {
                      return depthwise_conv2d_s8_host.packing.canonical_count(&params_of(params));
                    },
                .index = index},
    .scratch_operand = 4,
    .stack_bytes = 320,
    .rows_at_once = kRowsAtOnce};

}  // namespace rush
