// SPDX-License-Identifier: Apache-2.0
#include "linear.h"

namespace rush {
namespace {

/// Maps and weights, of elements of 1 << `shift` bytes; both params structs begin alike.
template <class Params>
bool extents_of(const Params& p, uint32_t shift, Extents* extents) {
  // Below 2^28, counts of bytes do not overflow; without features there would be loops that no memory bounds.
  if (p.in_features == 0 || p.out_features == 0 || ((p.in_features | p.out_features) >> 28) != 0) return false;
  extents->bytes[2] = saturating_multiply(p.in_features << shift, p.out_features);
  extents->rows = p.rows;
  return map_holds(p.in, p.rows, saturating_multiply(p.positions, p.in_features << shift), &extents->bytes[0]) &&
         map_holds(p.out, p.rows, saturating_multiply(p.positions, p.out_features << shift), &extents->bytes[1]);
}

}  // namespace

bool linear_s8_extents(const void* params, Extents* extents) {
  const LinearParams& p = *static_cast<const LinearParams*>(params);
  if (!extents_of(p, 0, extents)) return false;
  extents->bytes[3] = saturating_multiply(channel_blocks(p.out_features), sizeof(ChannelBlock));
  return true;
}

namespace {

bool linear_f32_extents(const void* params, Extents* extents) {
  const LinearF32Params& p = *static_cast<const LinearF32Params*>(params);
  extents->bytes[3] = p.out_features << 2;
  return ((p.in.row_bytes | p.out.row_bytes) & 3u) == 0 && extents_of(p, 2, extents);
}

}  // namespace

const KernelContract linear_s8_contract = {linear_s8_extents, sizeof(LinearParams), 4, 0x02, 0x0c};
const KernelContract linear_f32_contract = {linear_f32_extents, sizeof(LinearF32Params), 4, 0x02, 0x0f};

}  // namespace rush
