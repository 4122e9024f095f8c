// SPDX-License-Identifier: Apache-2.0
#include "permute.h"

namespace rush {
namespace {

bool permute_extents(const PermuteParams& p, uint32_t width, Extents* extents) {
  uint32_t count = width, last = width;
  for (int axis = 0; axis < kPermuteRank; ++axis) {
    if (p.shape[axis] == 0 || (p.shape[axis] == 1 && p.stride[axis] != 0)) return false;
    count = saturating_multiply(count, p.shape[axis]);
    last = saturating_add(last, saturating_multiply(saturating_multiply(p.shape[axis] - 1, p.stride[axis]), width));
  }
  extents->bytes[0] = last;
  extents->bytes[1] = count;
  extents->rows = 1;
  return true;
}

bool permute_8_extents(const void* params, Extents* extents) {
  return permute_extents(*static_cast<const PermuteParams*>(params), 1, extents);
}

bool permute_32_extents(const void* params, Extents* extents) {
  return permute_extents(*static_cast<const PermuteParams*>(params), 4, extents);
}

}  // namespace

const KernelContract permute_8_contract = {permute_8_extents, sizeof(PermuteParams), 2, 0x2, 0x0};
const KernelContract permute_32_contract = {permute_32_extents, sizeof(PermuteParams), 2, 0x2, 0x3};

}  // namespace rush
