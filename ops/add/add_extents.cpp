// SPDX-License-Identifier: Apache-2.0
#include "add.h"

namespace rush {
namespace {

/// Whether a row of blocks, `step` bytes apart, fits. The first comparison also bounds the product.
bool row_fits(const Rows& rows, const AddWalk& w, uint32_t step, uint32_t block_bytes) {
  if (!rows_hold(rows, w.rows) || block_bytes > rows.row_bytes) return false;
  return saturating_multiply(w.blocks - 1, step) <= rows.row_bytes - block_bytes;
}

bool extents_of(const AddWalk& w, uint32_t element_bytes, Extents* extents) {
  if (w.blocks == 0 || w.block_elements == 0 || w.block_elements > 0x0fffffffu || w.b_step > 1) return false;
  const uint32_t block = w.block_elements * element_bytes;
  if (!row_fits(w.a, w, w.a_block_bytes, block)) return false;
  if (!row_fits(w.b, w, w.b_block_bytes, w.b_step ? block : element_bytes)) return false;
  if (!row_fits(w.out, w, block, block)) return false;
  extents->bytes[0] = rows_bytes(w.a);
  extents->bytes[1] = rows_bytes(w.b);
  extents->bytes[2] = rows_bytes(w.out);
  extents->rows = w.rows;
  return true;
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
