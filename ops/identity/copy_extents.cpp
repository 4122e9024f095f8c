// SPDX-License-Identifier: Apache-2.0
#include "copy.h"

namespace rush {
namespace {

// Out of line, to stay small.
__attribute__((noinline)) uint32_t multiply_add(uint32_t a, uint32_t b, uint32_t c) {
  return saturating_add(saturating_multiply(a, b), c);
}

/// Bytes from a row's first segment to its last one's end; 0 if segments overlap or are empty.
uint32_t row_span(const CopyParams& p, uint32_t pitch) {
  if (p.segments == 0 || p.segment_bytes == 0 || pitch < p.segment_bytes) return 0;
  return multiply_add(p.segments - 1, pitch, p.segment_bytes);
}

/// Not the whole last row: a part of the channels may begin behind a row's first byte.
uint32_t map_span(const Rows& rows, uint32_t row_span) {
  return multiply_add(rows.ring_rows - 1u, rows.row_bytes, row_span);
}

bool copy_extents(const void* params, Extents* extents) {
  const CopyParams& p = *static_cast<const CopyParams*>(params);
  const uint32_t in_span = row_span(p, p.in_pitch), out_span = row_span(p, p.out_pitch);
  if (in_span == 0 || in_span > p.in.row_bytes || out_span == 0 || out_span > p.out.row_bytes) return false;
  if (!rows_hold(p.in, p.rows) || !rows_hold(p.out, p.rows)) return false;
  extents->bytes[0] = map_span(p.in, in_span);
  extents->bytes[1] = map_span(p.out, out_span);
  extents->rows = p.rows;
  return true;
}

}  // namespace

const KernelContract copy_contract = {copy_extents, sizeof(CopyParams), 2, 0x2, 0x0};

}  // namespace rush
