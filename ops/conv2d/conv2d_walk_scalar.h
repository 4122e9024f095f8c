// SPDX-License-Identifier: Apache-2.0
//
// From position to position, for the portable variants.
#ifndef RUSHLIGHT_OPS_CONV2D_WALK_SCALAR_H
#define RUSHLIGHT_OPS_CONV2D_WALK_SCALAR_H

#include <string.h>

#include "conv2d.h"
#include "conv2d_gather.h"
#include "conv2d_outputs_scalar.h"

namespace rush {

struct ScalarCopy {
  static void copy(int8_t* to, const int8_t* from, uint32_t bytes) { copy_forward(to, from, bytes); }
};

/// An output position: its window's origin, its column, where its outputs begin.
struct OutputPosition {
  WindowOrigin at;
  int32_t row;
  int32_t column;
  int8_t* out;
};

inline __attribute__((noinline)) void begin_row(const Conv2dParams& p, void* const* operands, int32_t row,
                                                OutputPosition* position) {
  const ConvGeometry& g = p.geometry;
  position->at = {row * g.stride_height - g.pad_top, -static_cast<int32_t>(g.pad_left)};
  position->row = row;
  position->column = 0;
  position->out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(row));
}

/// The next position, on the next row if need be.
inline __attribute__((noinline)) void advance(const Conv2dParams& p, void* const* operands, OutputPosition* position) {
  position->at.x += p.geometry.stride_width;
  position->out += p.out_pixel;
  if (++position->column == p.geometry.out_width) begin_row(p, operands, position->row + 1, position);
}

inline __attribute__((noinline)) bool is_inside(const ConvGeometry& g, WindowOrigin at) {
  return at.y >= 0 && at.x >= 0 && at.y + (g.kernel_height - 1) * g.dilation_height < g.in_height &&
         at.x + (g.kernel_width - 1) * g.dilation_width < g.in_width;
}

inline OutputLayer output_layer(const Conv2dParams& p, void* const* operands) {
  return {static_cast<const int8_t*>(operands[2]), static_cast<const ChannelBlock*>(operands[3]), &p.codes,
          p.out_channels};
}

}  // namespace rush
#endif
