// SPDX-License-Identifier: Apache-2.0
//
// Tiles of two pixels by two outputs by VMLADAVA; four outputs become codes at once. Windows inside the map are read
// where they lie.
#include <arm_mve.h>
#include <string.h>

#include "conv2d.h"
#include "conv2d_channels_mve.h"
#include "conv2d_dot_mve.h"
#include "conv2d_gather.h"

namespace rush {
namespace {

struct VectorCopy {
  /// The rows of the small windows that are always gathered fit one vector.
  static void copy(int8_t* to, const int8_t* from, uint32_t bytes) {
    if (bytes > 16) {
      memcpy(to, from, bytes);
    } else {
      const mve_pred16_t live = vctp8q(bytes);
      vstrbq_p_s8(to, vldrbq_z_s8(from, live), live);
    }
  }
};

/// Four outputs of two pixels. A tile cut to one pixel computes it twice: both windows and both outputs are the same.
struct ConvTile {
  const int8_t* x[2];  ///< segment s of window i is at x[i] + the cursor's s-th offset
  RowCursor rows;
  ConvSegments segments;
  BlockSums sums[2];
  uint32_t count;
};

/// Sets the sums of the `count` <= 4 outputs of each pixel; returns the weights' end.
__attribute__((noinline)) const int8_t* dot(ConvTile* tile, const int8_t* w) {
  RUSH_ROLLED for (uint32_t j = 0; j < tile->count; j += 2) {
    const DotTile sums = {tile->sums[0].sum + j, tile->sums[1].sum + j};
    sums.first[0] = sums.first[1] = sums.second[0] = sums.second[1] = 0;
    RowCursor rows = tile->rows;
    RUSH_ROLLED for (uint32_t i = tile->segments.count; i != 0; --i) {
      const int8_t *const x0 = tile->x[0] + rows.offset, *const x1 = tile->x[1] + rows.offset;
      w = j + 1 < tile->count ? dot_two_by_two(x0, x1, w, tile->segments.bytes, sums)
                              : dot_two_by_one(x0, x1, w, tile->segments.bytes, sums);
      rows.next();
    }
  }
  return w;
}

/// All outputs of a tile's pixels.
void walk_outputs(const Conv2dParams& p, void* const* operands, ConvTile* tile) {
  const int8_t* w = static_cast<const int8_t*>(operands[2]);
  const ChannelBlock* block = static_cast<const ChannelBlock*>(operands[3]);
  RUSH_ROLLED for (uint32_t left = p.out_channels; left != 0; left -= tile->count) {
    tile->count = left < 4 ? left : 4;
    w = dot(tile, w);
    RUSH_ROLLED for (BlockSums& sums : tile->sums) store_codes_mve(*block, p.codes, &sums, tile->count);
    ++block;
  }
}

/// Row y of the output, or a band of `rows` rows that are as one.
void walk_row(const Conv2dParams& p, void* const* operands, Band rows, ConvTile* tile) {
  const ConvGeometry& g = p.geometry;
  const int32_t count = rows.end - rows.begin;
  int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(rows.begin));
  WindowOrigin at = {rows.begin * g.stride_height - g.pad_top, -static_cast<int32_t>(g.pad_left)};
  const bool rows_inside = p.gather == 0 && at.y >= 0 && at.y + (g.kernel_height - 1) * g.dilation_height < g.in_height;
  RUSH_ROLLED for (int32_t left = g.out_width * count; left > 0; left -= 2) {
    const int32_t further = left < 2 ? 0 : 1, step = further * g.stride_width;
    const int32_t last_column = at.x + step + (g.kernel_width - 1) * g.dilation_width;
    if (rows_inside && at.x >= 0 && last_column < g.in_width * count) {
      tile->rows = window_rows(g, static_cast<uint32_t>(at.y));
      tile->x[0] = static_cast<const int8_t*>(operands[0]) + at.x * p.in_pixel;
      tile->x[1] = tile->x[0] + step * p.in_pixel;
    } else {
      const int8_t* const in = static_cast<const int8_t*>(operands[0]);
      int8_t* const scratch = static_cast<int8_t*>(operands[4]);
      int8_t* const second = gather_window<VectorCopy>(p, in, at, scratch);
      gather_window<VectorCopy>(p, in, {at.y, at.x + step}, second);
      tile->rows = {0, tile->segments.bytes, 0xffffffffu};
      tile->x[1] = second;
      tile->x[0] = scratch;
    }
    tile->sums[0].out = out;
    tile->sums[1].out = out + further * p.out_pixel;
    walk_outputs(p, operands, tile);
    out += 2 * p.out_pixel;
    at.x += 2 * g.stride_width;
  }
}

}  // namespace

void conv2d_s8_mve(const void* params, void* const* operands, Band band) {
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  ConvTile tile;
  tile.segments = conv2d_segments(p);
  RUSH_ROLLED for (BlockSums& sums : tile.sums) sums.stride = 1;
  const bool dense = is_dense_pointwise(p);
  int32_t rows = 1;
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; y += rows) {
    if (dense) rows = rows_as_one(p.geometry, {y, band.end});
    walk_row(p, operands, {y, y + rows}, &tile);
  }
}

}  // namespace rush
