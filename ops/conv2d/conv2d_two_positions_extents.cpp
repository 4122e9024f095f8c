// SPDX-License-Identifier: Apache-2.0
#include "conv2d_two_positions.h"

namespace rush {
namespace {

bool conv2d_two_positions_s8_extents(const void* params, Extents* extents) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  const uint32_t inputs = two_positions_inputs(p);
  if (inputs == 0 || (p.out_channels & 7u) != 0 || p.gather != 0 || !conv2d_s8_extents(params, extents)) return false;
  extents->bytes[2] = saturating_multiply(inputs, p.out_channels);
  // It can only wrap where the weights are more than any image holds.
  extents->bytes[4] = 6 * inputs;
  return true;
}

}  // namespace

const KernelContract conv2d_two_positions_s8_contract = {conv2d_two_positions_s8_extents, sizeof(Conv2dParams), 5, 0x12,
                                                         0x1c};

}  // namespace rush
