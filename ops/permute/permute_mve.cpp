// SPDX-License-Identifier: Apache-2.0
//
// Contiguous rows sixteen bytes a turn; strided ones by gathers of eight bytes with 16-bit offsets, or of four
// with 32-bit ones where the stride is larger. Many short rows (a picture's planes that become pixels) are contiguous
// columns, which are scattered.
#include <arm_mve.h>

#include "permute.h"

namespace rush {
namespace {

void copy_row(uint8_t* out, const uint8_t* in, uint32_t count) {
  for (uint32_t c = 0; c < count; c += 16) {
    const mve_pred16_t live = vctp8q(count - c);
    vstrbq_p_u8(out + c, vldrbq_z_u8(in + c, live), live);
  }
}

void gather_row_near(uint8_t* out, const uint8_t* in, uint32_t count, uint32_t stride) {
  const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), static_cast<uint16_t>(stride));
  for (uint32_t c = 0; c < count; c += 8) {
    const mve_pred16_t live = vctp16q(count - c);
    vstrbq_p_u16(out + c, vldrbq_gather_offset_z_u16(in, offsets, live), live);
    in += 8 * stride;
  }
}

void gather_row_far(uint8_t* out, const uint8_t* in, uint32_t count, uint32_t stride) {
  const uint32x4_t offsets = vmulq_n_u32(vidupq_n_u32(0, 1), stride);
  for (uint32_t c = 0; c < count; c += 4) {
    const mve_pred16_t live = vctp32q(count - c);
    vstrbq_p_u32(out + c, vldrbq_gather_offset_z_u32(in, offsets, live), live);
    in += 4 * stride;
  }
}

enum { kShortRow = 16 };  // sixteen rows lie within the reach of 8-bit offsets

void scatter_column(uint8_t* out, const uint8_t* in, const Plane& plane) {
  const uint8x16_t offsets = vmulq_n_u8(vidupq_n_u8(0, 1), static_cast<uint8_t>(plane.columns));
  for (uint32_t r = 0; r < plane.rows; r += 16) {
    const mve_pred16_t live = vctp8q(plane.rows - r);
    vstrbq_scatter_offset_p_u8(out, offsets, vldrbq_z_u8(in + r, live), live);
    out += 16 * plane.columns;
  }
}

}  // namespace

void permute_8_mve(const void* params, void* const* operands, Band) {
  const PermuteParams& p = *static_cast<const PermuteParams*>(params);
  const Plane plane = plane_of(p);
  const bool is_tall = plane.row_stride == 1 && plane.columns <= kShortRow;
  permute_planes<uint8_t>(p, operands, [&](uint8_t* out, const uint8_t* in) {
    if (is_tall) {
      for (uint32_t c = 0; c < plane.columns; ++c) scatter_column(out + c, in + c * plane.column_stride, plane);
      return;
    }
    for (uint32_t r = 0; r < plane.rows; ++r) {
      if (plane.column_stride == 1) {
        copy_row(out, in, plane.columns);
      } else if (plane.column_stride <= 0xffffu / 7) {
        gather_row_near(out, in, plane.columns, plane.column_stride);
      } else {
        gather_row_far(out, in, plane.columns, plane.column_stride);
      }
      out += plane.columns;
      in += plane.row_stride;
    }
  });
}

}  // namespace rush
