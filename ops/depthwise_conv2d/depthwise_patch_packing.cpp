// SPDX-License-Identifier: Apache-2.0
#include "ops/depthwise_conv2d/depthwise_conv2d_op.h"
#include "ops/depthwise_conv2d/depthwise_patch.h"

namespace rush {
namespace {

const DepthwiseConv2dParams& params_of(const void* params) {
  return *static_cast<const DepthwiseConv2dParams*>(params);
}

size_t canonical_count(const void* params) {
  const DepthwiseConv2dParams& p = params_of(params);
  return size_t{p.geometry.kernel_height} * p.geometry.kernel_width * p.channels;
}

size_t packed_count(Isa isa, const void* params) {
  return isa == Isa::kMve ? patch_weights(params_of(params).channels) : canonical_count(params);
}

int64_t canonical_weight(const DepthwiseConv2dParams& p, size_t channel, size_t row, size_t column) {
  const ConvGeometry& g = p.geometry;
  if (channel >= p.channels || row >= g.kernel_height || column >= g.kernel_width) return -1;
  return static_cast<int64_t>((channel * g.kernel_height + row) * g.kernel_width + column);
}

/// Sixteen for each channel: four columns of four rows, the first row zero.
int64_t patch_index(Isa isa, const void* params, size_t i) {
  if (isa != Isa::kMve) return depthwise_conv2d_s8_host.packing.index(isa, params, i);
  return canonical_weight(params_of(params), i / 16, i % 4 - 1, i % 16 / 4);
}

int64_t compact_index(Isa isa, const void* params, size_t i) {
  return isa == Isa::kMve ? static_cast<int64_t>(i) : depthwise_conv2d_s8_host.packing.index(isa, params, i);
}

/// Sixteen rows for each channel, the first one zero.
int64_t column_index(Isa isa, const void* params, size_t i) {
  if (isa != Isa::kMve) return depthwise_conv2d_s8_host.packing.index(isa, params, i);
  return canonical_weight(params_of(params), i / 16, i % 16 - 1, 0);
}

}  // namespace

std::string_view patch_family(const DepthwiseConv2dParams& p) {
  const ConvGeometry& g = p.geometry;
  if (p.channels % 4 != 0 || p.multiplier != 1 || g.dilation_height != 1 || g.dilation_width != 1) return {};
  if (p.codes.left_shift != 0) return {};
  if ((g.in_width | g.out_width | g.kernel_width | g.stride_height | g.stride_width) == 1 && g.kernel_height <= 15)
    return "depthwise_column_s8";
  return g.kernel_height <= 3 && g.kernel_width <= 4 ? "depthwise_patch_s8" : "";
}

const HostKernel depthwise_patch_s8_host = {
    .contract = &depthwise_patch_s8_contract,
    .run = depthwise_patch_s8_scalar,
    .packing = {.operand = 2, .packed_count = packed_count, .canonical_count = canonical_count, .index = patch_index},
    .scratch_operand = 4,
    .stack_bytes = 448,
    .rows_at_once = 2};

const HostKernel depthwise_compact_s8_host = {
    .contract = &depthwise_compact_s8_contract,
    .run = depthwise_compact_s8_scalar,
    .packing = {.operand = 2,
                .packed_count = [](Isa, const void* params) { return canonical_count(params); },
                .canonical_count = canonical_count,
                .index = compact_index},
    .scratch_operand = 4,
    .stack_bytes = 448,
    .rows_at_once = 2};

const HostKernel depthwise_column_s8_host = {
    .contract = &depthwise_column_s8_contract,
    .run = depthwise_column_s8_scalar,
    .packing = {.operand = 2, .packed_count = packed_count, .canonical_count = canonical_count, .index = column_index},
    .scratch_operand = 4,
    .stack_bytes = 448};  // a patch is sixteen rows: no promise

}  // namespace rush
