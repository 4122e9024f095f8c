// SPDX-License-Identifier: Apache-2.0
//
// The portable variants: int8 with blocks of four outputs a pixel, float32 plainly.
#include <string.h>

#include "conv2d.h"
#include "conv2d_dot_scalar.h"
#include "conv2d_walk.h"

namespace rush {
namespace {

struct ScalarConv {
  enum : uint32_t { kPixels = 1 };

  // Not memcpy: an image that nobody compiled may let them overlap.
  static void copy(int8_t* to, const int8_t* from, uint32_t bytes) { memmove(to, from, bytes); }

  static __attribute__((noinline)) const int8_t* dot(ConvTile<1>* tile, const int8_t* w) {
    const uint32_t lanes = tile->count == 4 ? 4 : 1;
    RUSH_ROLLED for (uint32_t j = 0; j < tile->count; j += lanes) {
      int32_t* const sums = tile->sums[0].sum + j;
      RUSH_ROLLED for (uint32_t i = 0; i < lanes; ++i) sums[i] = 0;
      RowCursor rows = tile->rows;
      RUSH_ROLLED for (uint32_t i = tile->segments.count; i != 0; --i) {
        const int8_t* const x = tile->x[0] + rows.offset;
        w = lanes == 4 ? dot_four(x, w, tile->segments.bytes, sums) : dot_one(x, w, tile->segments.bytes, sums);
        rows.next();
      }
    }
    return w;
  }

  static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count) {
    store_codes(block, codes, sums, count);
  }
};

/// One output value: `in` and `w` begin with the channels of its group.
__attribute__((noinline)) float window_sum_f32(const Conv2dF32Params& p, const float* in, const float* w,
                                               WindowOrigin at) {
  const ConvGeometry& g = p.geometry;
  const uint32_t in_channels = static_cast<uint32_t>(p.groups) * p.group_in;
  float sum = 0;
  RUSH_ROLLED for (int32_t i = 0; i < g.kernel_height; ++i) {
    const int32_t y = at.y + i * g.dilation_height;
    RUSH_ROLLED for (int32_t j = 0; j < g.kernel_width; ++j, w += p.group_in) {
      const int32_t x = at.x + j * g.dilation_width;
      if (y < 0 || y >= g.in_height || x < 0 || x >= g.in_width) continue;
      const float* const pixel =
          in + row_offset(g.in, static_cast<uint32_t>(y)) / 4 + static_cast<uint32_t>(x) * in_channels;
      RUSH_ROLLED for (uint32_t c = 0; c < p.group_in; ++c) sum += pixel[c] * w[c];
    }
  }
  return sum;
}

inline float clamp_f32(float value, float min, float max) { return value < min ? min : value > max ? max : value; }

/// All outputs of one pixel.
void pixel_f32(const Conv2dF32Params& p, void* const* operands, WindowOrigin at, float* out) {
  const float* in = static_cast<const float*>(operands[0]);
  const float* w = static_cast<const float*>(operands[2]);
  const float* bias = static_cast<const float*>(operands[3]);
  const uint32_t window = static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width * p.group_in;
  for (uint32_t group = 0; group < p.groups; ++group, in += p.group_in) {
    for (uint32_t o = 0; o < p.group_out; ++o, w += window) {
      *out++ = clamp_f32(window_sum_f32(p, in, w, at) + *bias++, p.min, p.max);
    }
  }
}

}  // namespace

void conv2d_s8_scalar(const void* params, void* const* operands, Band band) {
  walk_conv2d<ScalarConv>(*static_cast<const Conv2dParams*>(params), operands, band);
}

void conv2d_f32_scalar(const void* params, void* const* operands, Band band) {
  const Conv2dF32Params& p = *static_cast<const Conv2dF32Params*>(params);
  const ConvGeometry& g = p.geometry;
  for (int32_t y = band.begin; y < band.end; ++y) {
    float* out = static_cast<float*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y)) / 4;
    WindowOrigin at = {y * g.stride_height - g.pad_top, -static_cast<int32_t>(g.pad_left)};
    for (uint32_t x = 0; x < g.out_width; ++x, at.x += g.stride_width) {
      pixel_f32(p, operands, at, out);
      out += p.groups * p.group_out;
    }
  }
}

}  // namespace rush
