// SPDX-License-Identifier: Apache-2.0
#include "pad.h"

namespace rush {
namespace {

// Out of line, to stay small.
__attribute__((noinline)) uint32_t multiply_add(uint32_t a, uint32_t b, uint32_t c) {
  return saturating_add(saturating_multiply(a, b), c);
}

__attribute__((noinline)) bool hold(const Rows& rows, uint32_t map_rows) { return rows_hold(rows, map_rows); }

bool pad_extents(const PadParams& p, uint32_t log2_width, Extents* extents) {
  if (p.segments == 0 || p.elements == 0 || p.in_pitch < p.elements) return false;
  const uint32_t segment = saturating_add(saturating_add(p.left, p.elements), p.right);
  const uint32_t in_span = multiply_add(p.segments - 1, p.in_pitch, p.elements);
  const uint32_t out_span = multiply_add(p.segments, segment, saturating_add(p.before, p.after));
  if (in_span > p.in.row_bytes >> log2_width || out_span > p.out.row_bytes >> log2_width) return false;
  if (out_span == 0xffffffffu || !hold(p.in, p.in_rows) || !hold(p.out, p.rows)) return false;
  extents->bytes[0] = multiply_add(p.in.ring_rows - 1u, p.in.row_bytes, in_span << log2_width);
  extents->bytes[1] = multiply_add(p.out.ring_rows, p.out.row_bytes, 0);
  extents->rows = p.rows;
  return true;
}

bool pad_s8_extents(const void* params, Extents* extents) {
  return pad_extents(*static_cast<const PadParams*>(params), 0, extents);
}

bool pad_f32_extents(const void* params, Extents* extents) {
  const PadParams& p = *static_cast<const PadParams*>(params);
  return ((p.in.row_bytes | p.out.row_bytes) & 3u) == 0 && pad_extents(p, 2, extents);
}

}  // namespace

const KernelContract pad_s8_contract = {pad_s8_extents, sizeof(PadParams), 2, 0x2, 0x0};
const KernelContract pad_f32_contract = {pad_f32_extents, sizeof(PadParams), 2, 0x2, 0x3};

}  // namespace rush
