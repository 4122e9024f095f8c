// SPDX-License-Identifier: Apache-2.0
#include "linear_tiles.h"

namespace rush {
namespace {

bool linear_tiles_s8_extents(const void* params, Extents* extents) {
  const LinearParams& p = *static_cast<const LinearParams*>(params);
  if (!linear_s8_extents(params, extents) || p.codes.left_shift != 0) return false;
  const uint32_t inputs = linear_chunks(p) * kLinearChunk;
  extents->bytes[2] = saturating_multiply(inputs, linear_blocks(p) * kLinearBlock);
  extents->bytes[3] = saturating_multiply(linear_blocks(p), 2 * sizeof(ChannelBlock));
  if (inputs != p.in_features) extents->bytes[4] = inputs;
  return true;
}

bool linear_one_scale_s8_extents(const void* params, Extents* extents) {
  if (!linear_tiles_s8_extents(params, extents)) return false;
  extents->bytes[3] >>= 1;
  return true;
}

}  // namespace

const KernelContract linear_tiles_s8_contract = {linear_tiles_s8_extents, sizeof(LinearParams), 5, 0x12, 0x0c};
const KernelContract linear_one_scale_s8_contract = {linear_one_scale_s8_extents, sizeof(LinearOneScaleParams), 5, 0x12,
                                                     0x0c};

}  // namespace rush
