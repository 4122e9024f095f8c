// SPDX-License-Identifier: Apache-2.0
//
// The portable variants: int8 with the outputs of a window in blocks, float32 plainly.
#include <string.h>

#include "conv2d.h"
#include "conv2d_gather.h"
#include "conv2d_pairs.h"
#include "conv2d_pairs_scalar.h"

namespace rush {
namespace {

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

__attribute__((noinline)) void begin_row(const Conv2dParams& p, void* const* operands, int32_t row,
                                         OutputPosition* position) {
  const ConvGeometry& g = p.geometry;
  position->at = {row * g.stride_height - g.pad_top, -static_cast<int32_t>(g.pad_left)};
  position->row = row;
  position->column = 0;
  position->out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(row));
}

/// The next position, on the next row if need be.
__attribute__((noinline)) void advance(const Conv2dParams& p, void* const* operands, OutputPosition* position) {
  position->at.x += p.geometry.stride_width;
  position->out += p.out_pixel;
  if (++position->column == p.geometry.out_width) begin_row(p, operands, position->row + 1, position);
}

__attribute__((noinline)) bool is_inside(const ConvGeometry& g, WindowOrigin at) {
  return at.y >= 0 && at.x >= 0 && at.y + (g.kernel_height - 1) * g.dilation_height < g.in_height &&
         at.x + (g.kernel_width - 1) * g.dilation_width < g.in_width;
}

/// One position at a time.
__attribute__((noinline)) void conv2d_windows(const Conv2dParams& p, void* const* operands, Band band) {
  const ConvGeometry& g = p.geometry;
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  int8_t* const scratch = static_cast<int8_t*>(operands[4]);
  const OutputLayer layer = {static_cast<const int8_t*>(operands[2]), static_cast<const ChannelBlock*>(operands[3]),
                             &p.codes, p.out_channels};
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

/// words[i] = a[i] + 2^16 b[i]; returns their end.
__attribute__((noinline)) uint32_t* join(const int8_t* a, const int8_t* b, uint32_t n, uint32_t* words) {
  RUSH_ROLLED for (uint32_t i = 0; i != n; ++i)* words++ = wrapping(a[i]) + (wrapping(b[i]) << 16);
  return words;
}

/// Joins windows of two positions: rows where they lie if they are contiguous and inside the map.
void join_windows(const Conv2dParams& p, void* const* operands, WindowOrigin first, WindowOrigin second) {
  const ConvGeometry& g = p.geometry;
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  uint32_t* words = static_cast<uint32_t*>(operands[4]);
  const uint32_t row_bytes = static_cast<uint32_t>(g.kernel_width) * p.in_channels;
  const bool contiguous = g.kernel_width == 1 || (g.dilation_width == 1 && p.in_pixel == p.in_channels);
  if (contiguous && is_inside(g, first) && is_inside(g, second)) {
    RowCursor a = window_rows(g, static_cast<uint32_t>(first.y));
    RowCursor b = window_rows(g, static_cast<uint32_t>(second.y));
    RUSH_ROLLED for (uint32_t left = g.kernel_height; left != 0; --left, a.next(), b.next()) {
      words = join(in + a.offset + first.x * p.in_pixel, in + b.offset + second.x * p.in_pixel, row_bytes, words);
    }
  } else {
    int8_t* const a = reinterpret_cast<int8_t*>(words + g.kernel_height * row_bytes);
    int8_t* const b = gather_window<ScalarCopy>(p, in, first, a);
    gather_window<ScalarCopy>(p, in, second, b);
    join(a, b, g.kernel_height * row_bytes, words);
  }
}

/// Two positions at a time along the rows; one that is left over is computed twice.
__attribute__((noinline)) void conv2d_pairs(const Conv2dParams& p, void* const* operands, Band band) {
  const ConvGeometry& g = p.geometry;
  const OutputLayer layer = {static_cast<const int8_t*>(operands[2]), static_cast<const ChannelBlock*>(operands[3]),
                             &p.codes, p.out_channels};
  PairWindow window;
  window.words = static_cast<const uint32_t*>(operands[4]);
  window.count = static_cast<uint32_t>(g.kernel_height) * g.kernel_width * p.in_channels;
  OutputPosition pair[2];
  begin_row(p, operands, band.begin, &pair[1]);
  RUSH_ROLLED while (pair[1].row < band.end) {
    pair[0] = pair[1];
    advance(p, operands, &pair[1]);
    const OutputPosition* const second = pair[1].row < band.end ? &pair[1] : &pair[0];
    join_windows(p, operands, pair[0].at, second->at);
    window.out[0] = pair[0].out;
    window.out[1] = second->out;
    pair_outputs(window, layer);
    advance(p, operands, &pair[1]);
  }
}

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
  if (p.geometry.out_width == 0) return;  // a damaged image
  if (conv2d_takes_pairs(p)) {
    conv2d_pairs(p, operands, band);
  } else {
    conv2d_windows(p, operands, band);
  }
}

void conv2d_pairs_s8_scalar(const void* params, void* const* operands, Band band) {
  Conv2dParams conv = static_cast<const Conv2dPairsParams*>(params)->conv;
  // A damaged image may ask for a way that takes other scratch.
  conv.gather = conv.gather != 0;
  conv2d_s8_scalar(&conv, operands, band);
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
