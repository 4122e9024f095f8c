// SPDX-License-Identifier: Apache-2.0
#include "clamp.h"

namespace rush {
namespace {

template <class Params>
bool extents_of(const Params& p, uint32_t element_bytes, Extents* extents) {
  const uint32_t row_bytes = saturating_multiply(p.row_elements, element_bytes);
  if (!rows_hold(p.in, p.rows) || !rows_hold(p.out, p.rows)) return false;
  if (p.in.row_bytes < row_bytes || p.out.row_bytes < row_bytes) return false;
  extents->bytes[0] = rows_bytes(p.in);
  extents->bytes[1] = rows_bytes(p.out);
  extents->rows = p.rows;
  return true;
}

bool clamp_s8_extents(const void* params, Extents* extents) {
  return extents_of(*static_cast<const ClampParams*>(params), 1, extents);
}

bool clamp_f32_extents(const void* params, Extents* extents) {
  const ClampF32Params& p = *static_cast<const ClampF32Params*>(params);
  return ((p.in.row_bytes | p.out.row_bytes) & 3u) == 0 && extents_of(p, 4, extents);
}

}  // namespace

const KernelContract clamp_s8_contract = {clamp_s8_extents, sizeof(ClampParams), 2, 0x2, 0x0};
const KernelContract clamp_f32_contract = {clamp_f32_extents, sizeof(ClampF32Params), 2, 0x2, 0x3};

}  // namespace rush
