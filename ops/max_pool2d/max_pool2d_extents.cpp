// SPDX-License-Identifier: Apache-2.0
#include "max_pool2d.h"

namespace rush {
namespace {

bool extents_of(const PoolMap& map, uint32_t element_bytes, Extents* extents) {
  extents->rows = map.rows.out;
  return pool_extents(map, element_bytes, &extents->bytes[0], &extents->bytes[1]);
}

bool max_pool2d_s8_extents(const void* params, Extents* extents) {
  return extents_of(static_cast<const MaxPool2dParams*>(params)->map, 1, extents);
}

bool max_pool2d_f32_extents(const void* params, Extents* extents) {
  const PoolMap& map = static_cast<const MaxPool2dParams*>(params)->map;
  return ((map.in.row_bytes | map.out.row_bytes) & 3u) == 0 && extents_of(map, 4, extents);
}

}  // namespace

const KernelContract max_pool2d_s8_contract = {max_pool2d_s8_extents, sizeof(MaxPool2dParams), 2, 0x2, 0x0};
const KernelContract max_pool2d_f32_contract = {max_pool2d_f32_extents, sizeof(MaxPool2dParams), 2, 0x2, 0x3};

}  // namespace rush
