// SPDX-License-Identifier: Apache-2.0
#include "add.h"

namespace rush {
namespace {

/// A row of blocks, `step` bytes apart.
uint32_t row_bytes(const AddWalk& w, uint32_t step, uint32_t block_bytes) {
  return saturating_add(saturating_multiply(w.blocks - 1, step), block_bytes);
}

bool extents_of(const AddWalk& w, uint32_t element_bytes, Extents* extents) {
  if (w.blocks == 0 || w.block_elements == 0 || w.block_elements > 0x0fffffffu || w.b_step > 1) return false;
  const uint32_t block = w.block_elements * element_bytes;
  extents->rows = w.rows;
  return map_holds(w.a, w.rows, row_bytes(w, w.a_block_bytes, block), &extents->bytes[0]) &&
         map_holds(w.b, w.rows, row_bytes(w, w.b_block_bytes, w.b_step ? block : element_bytes), &extents->bytes[1]) &&
         map_holds(w.out, w.rows, row_bytes(w, block, block), &extents->bytes[2]);
}

bool add_s8_extents(const void* params, Extents* extents) {
  const AddParams& p = *static_cast<const AddParams*>(params);
  return static_cast<uint32_t>(p.scale.shift) < 32 && extents_of(p.walk, 1, extents);
}

bool add_f32_extents(const void* params, Extents* extents) {
  const AddWalk& w = static_cast<const AddF32Params*>(params)->walk;
  const uint32_t distances = w.a.row_bytes | w.b.row_bytes | w.out.row_bytes | w.a_block_bytes | w.b_block_bytes;
  return (distances & 3u) == 0 && extents_of(w, 4, extents);
}

}  // namespace

const KernelContract add_s8_contract = {add_s8_extents, sizeof(AddParams), 3, 0x4, 0x0};
const KernelContract add_f32_contract = {add_f32_extents, sizeof(AddF32Params), 3, 0x4, 0x7};

}  // namespace rush
