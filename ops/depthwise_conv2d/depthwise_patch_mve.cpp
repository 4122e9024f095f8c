// SPDX-License-Identifier: Apache-2.0
//
// Four channels at a time: rows of the map are interleaved in scratch by VST4, so that VLD4 gives the patches of four
// channels, and one VMLADAV is one output. Taps outside the map become zero points in scratch, so that no patch is a
// border.
#include <arm_mve.h>

#include "depthwise_patch_walk_mve.h"

namespace rush {

#ifndef RUSH_ASM
namespace {

inline uint8x16_t patch_row(const PatchRows& rows, int r, uint32x4_t column, uint32x4_t offsets) {
  const mve_pred16_t live = vcmphiq_n_u32(column, rows.not_below[r]);
  const uint32_t* const row = reinterpret_cast<const uint32_t*>(rows.row[r]);
  const uint32x4_t four = vldrwq_gather_offset_z_u32(row, offsets, live);
  return vreinterpretq_u8_u32(vpselq_u32(four, vdupq_n_u32(rows.zero_points), live));
}

[[gnu::noinline]] void fill_patches(const PatchRows& rows) {
  uint32x4_t column = vddupq_n_u32(rows.not_first, 1);
  uint8_t* to = reinterpret_cast<uint8_t*>(rows.to);
  RUSH_ROLLED for (uint32_t left = rows.in_fours; left != 0; --left) {
    const uint32x4_t offsets = vmulq_n_u32(column, rows.minus_pitch);
    const uint8x16x4_t patches = {{patch_row(rows, 0, column, offsets), patch_row(rows, 1, column, offsets),
                                   patch_row(rows, 2, column, offsets), patch_row(rows, 3, column, offsets)}};
    vst4q_u8(to, patches);
    column = vsubq_n_u32(column, 4);
    to += 64;
  }
}

inline int32_t sum_of(int32x4_t patch, const int8_t* w) {
  return vmladavq_s8(vreinterpretq_s8_s32(patch), vldrbq_s8(w));
}

/// Four codes for the windows that begin at `w` in their weights.
inline int32x4_t codes_of(const PatchRows& rows, const int32x4x4_t& patches, const int8_t* w) {
  int32x4_t acc = {sum_of(patches.val[0], w), sum_of(patches.val[1], w + 16), sum_of(patches.val[2], w + 32),
                   sum_of(patches.val[3], w + 48)};
  acc = vaddq_s32(acc, vldrwq_s32(rows.block->bias));
  const int32x4_t scale = vldrwq_s32(rows.block->scale);
  acc = vaddq_n_s32(vrshlq_s32(vmulhq_s32(acc, scale), scale), rows.zero_point);
  return vminq_s32(vmaxq_s32(acc, vdupq_n_s32(-128)), vdupq_n_s32(127));
}

[[gnu::noinline]] void sum_patches(const PatchRows& rows) {
  const int8_t* at = rows.patches;
  int8_t *out = rows.out, *below = rows.below;
  RUSH_ROLLED for (uint32_t left = rows.count; left != 0; --left) {
    const int32x4x4_t patches = vld4q_s32(reinterpret_cast<const int32_t*>(at));
    if (below != out) vstrbq_s32(below, codes_of(rows, patches, rows.weights));
    vstrbq_s32(out, codes_of(rows, patches, rows.weights + 1));
    at += rows.patch_step;
    out += rows.out_step;
    below += rows.out_step;
  }
}

}  // namespace

void rush_depthwise_patch_rows(PatchRows* rows) {
  RUSH_ROLLED for (; rows->groups != 0; --rows->groups) {
    fill_patches(*rows);
    sum_patches(*rows);
    for (const uint8_t*& row : rows->row) row += 4;
    rows->weights += 64;
    ++rows->block;
    rows->out += 4;
    rows->below += 4;
  }
}
#endif

void depthwise_patch_s8_mve(const void* params, void* const* operands, Band band) {
  const DepthwiseConv2dParams& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  PatchRows rows;
  set_common(p, operands, &rows);
  rows.count = g.out_width;
  set_columns(&rows, -static_cast<int32_t>(g.pad_left), g.kernel_width, p.channels);
  rows.out_step = p.channels;
  const int32_t most = g.stride_height == 1 ? 2 : 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += most) {
    RUSH_ROLLED for (int32_t r = 0; r < 4; ++r) {
      const uint32_t in_y = static_cast<uint32_t>(y * g.stride_height - g.pad_top + r);
      const bool inside = in_y < g.in_height;
      set_row(&rows, r, static_cast<const uint8_t*>(operands[0]) + (inside ? row_offset(g.in, in_y) : 0),
              inside ? g.in_width : 0);
    }
    sum_rows(p, operands, {y, band.end - y < most ? band.end : y + most}, {0, p.channels / 4u}, &rows);
  }
  clamp_outputs(p, operands, band);
}

}  // namespace rush
