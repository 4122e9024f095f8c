// SPDX-License-Identifier: Apache-2.0
#include "clamp.h"

namespace rush {
namespace {

/// The maps of a step, and how much of each row it touches.
struct Maps {
  const Rows& in;
  const Rows& out;
  uint32_t rows;
  uint32_t row_bytes;
};

// Out of line, so that both families share it.
__attribute__((noinline)) bool extents_of(const Maps& maps, Extents* extents) {
  extents->rows = maps.rows;
  return map_holds(maps.in, maps.rows, maps.row_bytes, &extents->bytes[0]) &&
         map_holds(maps.out, maps.rows, maps.row_bytes, &extents->bytes[1]);
}

bool clamp_s8_extents(const void* params, Extents* extents) {
  const ClampParams& p = *static_cast<const ClampParams*>(params);
  return extents_of({p.in, p.out, p.rows, p.row_elements}, extents);
}

bool clamp_f32_extents(const void* params, Extents* extents) {
  const ClampF32Params& p = *static_cast<const ClampF32Params*>(params);
  if (((p.in.row_bytes | p.out.row_bytes) & 3u) != 0) return false;
  return extents_of({p.in, p.out, p.rows, saturating_multiply(p.row_elements, 4)}, extents);
}

}  // namespace

const KernelContract clamp_s8_contract = {clamp_s8_extents, sizeof(ClampParams), 2, 0x2, 0x0};
const KernelContract clamp_f32_contract = {clamp_f32_extents, sizeof(ClampF32Params), 2, 0x2, 0x3};

}  // namespace rush
