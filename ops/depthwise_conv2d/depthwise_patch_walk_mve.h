// SPDX-License-Identifier: Apache-2.0
//
// What depthwise_patch_s8_mve and depthwise_column_s8_mve share: the description of one or two rows of outputs.
#ifndef RUSHLIGHT_OPS_DEPTHWISE_PATCH_WALK_MVE_H
#define RUSHLIGHT_OPS_DEPTHWISE_PATCH_WALK_MVE_H

#include <arm_mve.h>

#include "../conv2d/conv2d_clamp_mve.h"
#include "depthwise_patch.h"
#include "depthwise_patch_rows.h"

namespace rush {

/// What all rows have in common.
inline void set_common(const DepthwiseConv2dParams& p, void* const* operands, PatchRows* rows) {
  rows->zero_points = static_cast<uint8_t>(p.zero_point) * 0x01010101u;
  rows->to = static_cast<int8_t*>(operands[4]);
  rows->patches = rows->to;
  rows->patch_step = 16u * p.geometry.stride_width;
  rows->zero_point = p.codes.zero_point;
}

/// Patches whose weights are zero but in their first `used` columns; what follows the last one's may be anything.
inline void set_columns(PatchRows* rows, int32_t first, uint32_t used, uint32_t pitch) {
  const uint32_t columns = (rows->count - 1) * rows->patch_step / 16 + (used < 4 ? used : 4);
  rows->not_first = ~static_cast<uint32_t>(first);
  rows->in_fours = (columns + 3) / 4;
  rows->minus_pitch = 0 - pitch;
}

/// Row r begins at `row` and has so many columns.
inline void set_row(PatchRows* rows, int32_t r, const uint8_t* row, uint32_t columns) {
  rows->row[r] = row + static_cast<int32_t>(rows->minus_pitch);
  rows->not_below[r] = ~columns;
}

inline void clamp_outputs(const DepthwiseConv2dParams& p, void* const* operands, Band band) {
  if (is_narrow(p.codes))
    clamp_band(p.geometry, {static_cast<int8_t*>(operands[1]), p.channels, p.channels, p.codes}, band);
}

/// Groups of four channels.
struct Groups {
  uint32_t first;
  uint32_t count;
};

inline void sum_rows(const DepthwiseConv2dParams& p, void* const* operands, Band outputs, Groups groups,
                     PatchRows* rows) {
  int8_t* const out = static_cast<int8_t*>(operands[1]) + 4 * groups.first;
  rows->out = out + row_offset(p.geometry.out, static_cast<uint32_t>(outputs.begin));
  rows->below = out + row_offset(p.geometry.out, static_cast<uint32_t>(outputs.end) - 1);
  rows->weights = static_cast<const int8_t*>(operands[2]) + 64 * groups.first;
  rows->block = static_cast<const ChannelBlock*>(operands[3]) + groups.first;
  rows->groups = groups.count;
  rush_depthwise_patch_rows(rows);
}

}  // namespace rush
#endif
