// SPDX-License-Identifier: Apache-2.0
//
// Weights of two outputs at a time, in words of two inputs (conv2d_two_positions_scalar.cpp).
#include "ops/conv2d/conv2d_packing.h"
#include "ops/conv2d/conv2d_two_positions.h"

namespace rush {
namespace {

const Conv2dParams& conv2d_of(const void* params) { return *static_cast<const Conv2dParams*>(params); }

size_t window_inputs(const Conv2dParams& p) {
  return size_t{p.geometry.kernel_height} * p.geometry.kernel_width * p.in_channels;
}

}  // namespace

int64_t two_positions_weight(size_t inputs, size_t i) {
  const size_t even = (inputs + 1) / 2 * 2, block = i / (2 * even), in_block = i % (2 * even), place = in_block % 4;
  const size_t output = 2 * block + (place == 1 || place == 2 ? 1 : 0), input = in_block / 4 * 2 + place / 2;
  return input < inputs ? static_cast<int64_t>(output * inputs + input) : -1;
}

bool two_positions_are_exact(std::span<const int8_t> weights, size_t inputs) {
  for (size_t i = 0; i + 1 < weights.size(); ++i)
    if (i % inputs % 2 == 0 && i % inputs + 1 < inputs && weights[i] == -128 && weights[i + 1] == -128) return false;
  return true;
}

const HostKernel conv2d_two_positions_s8_host = {
    .contract = &conv2d_two_positions_s8_contract,
    .run = conv2d_two_positions_s8_scalar,
    .packing = {
        .operand = 2,
        .packed_count =
            [](Isa, const void* params) {
              const Conv2dParams& p = conv2d_of(params);
              return size_t{two_positions_inputs(p)} * p.out_channels;
            },
        .canonical_count =
            [](const void* params) { return window_inputs(conv2d_of(params)) * conv2d_of(params).out_channels; },
        .index = [](Isa, const void* params,
                    size_t i) { return two_positions_weight(window_inputs(conv2d_of(params)), i); }},
    .scratch_operand = 4,
    .scalar_scratch = [](const void* params) { return 6 * two_positions_inputs(conv2d_of(params)); },
    .stack_bytes = 448,
    .rows_at_once = 1,
    .positions_at_once = kConvPositionsAtOnce};

}  // namespace rush
