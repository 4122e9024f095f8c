// SPDX-License-Identifier: Apache-2.0
//
// The portable variants: int8 with the outputs of a window in blocks, one position at a time; float32 plainly.
#include "conv2d.h"
#include "conv2d_pairs.h"
#include "conv2d_walk_scalar.h"

namespace rush {
namespace {

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
  const Conv2dParams& p = *static_cast<const Conv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  if (g.out_width == 0) return;  // a damaged image
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  int8_t* const scratch = static_cast<int8_t*>(operands[4]);
  const OutputLayer layer = output_layer(p, operands);
  InputWindow window;
  window.segments = conv2d_segments(p);
  OutputPosition position;
  begin_row(p, operands, band.begin, &position);
  RUSH_ROLLED for (; position.row < band.end; advance(p, operands, &position)) {
    if (p.gather == 0 && is_inside(g, position.at)) {
      window.rows = window_rows(g, static_cast<uint32_t>(position.at.y));
      window.x = in + position.at.x * p.in_pixel;
    } else {
      gather_window<ScalarCopy>(p, in, position.at, scratch);
      window.rows = {0, window.segments.bytes, 0xffffffffu};
      window.x = scratch;
    }
    window_outputs(window, layer, position.out);
  }
}

void conv2d_pairs_s8_scalar(const void* params, void* const* operands, Band band) {
  conv2d_s8_scalar(&static_cast<const Conv2dPairsParams*>(params)->conv, operands, band);
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
