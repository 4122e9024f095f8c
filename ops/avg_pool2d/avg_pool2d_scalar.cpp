// SPDX-License-Identifier: Apache-2.0
//
// The portable variants.
#include "avg_pool2d.h"

namespace rush {
namespace {

/// Not inlined, like its twins: one frame for all that the loops around it and in it need would be twice as large.
[[gnu::noinline]] void average_pixel(const AvgPool2dParams& p, const void* scales, const PoolWindow<int8_t>& window,
                                     int8_t* out) {
  const AverageScale& scale = scale_of(p, window, scales);
  const int32_t zero_points = zero_points_of(p, window.grid);
  for (int32_t c = 0; c < p.map.channels; ++c) {
    const int32_t sum = sum_taps(window.grid, [&](int32_t r) { return window.row(r) + c; });
    // Modulo 2^32: a damaged image may hold any zero point.
    out[c] = code_of(p, scale, static_cast<int32_t>(static_cast<uint32_t>(sum) - static_cast<uint32_t>(zero_points)));
  }
}

inline float sum_floats(const PoolWindow<float>& window, int32_t channel) {
  float sum = 0;
  for (int32_t r = 0; r < window.grid.rows; ++r) {
    const float* tap = window.row(r) + channel;
    for (int32_t left = window.grid.columns; left > 0; --left) {
      sum += *tap;
      tap += window.grid.step;
    }
  }
  return sum;
}

[[gnu::noinline]] void average_pixel(const AvgPool2dF32Params& p, const void* reciprocals,
                                     const PoolWindow<float>& window, float* out) {
  const float reciprocal = static_cast<const float*>(reciprocals)[count_class(p.map, p.counts, window.y, window.x)];
  for (int32_t c = 0; c < p.map.channels; ++c) out[c] = sum_floats(window, c) * reciprocal;
}

}  // namespace

void avg_pool2d_s8_scalar(const void* params, void* const* operands, Band band) {
  const AvgPool2dParams& p = *static_cast<const AvgPool2dParams*>(params);
  const int8_t* const in = static_cast<const int8_t*>(operands[0]);
  each_window(p.map, in, static_cast<int8_t*>(operands[2]), band,
              [&](const PoolWindow<int8_t>& window, int8_t* out) { average_pixel(p, operands[1], window, out); });
}

void avg_pool2d_f32_scalar(const void* params, void* const* operands, Band band) {
  const AvgPool2dF32Params& p = *static_cast<const AvgPool2dF32Params*>(params);
  const float* const in = static_cast<const float*>(operands[0]);
  each_window(p.map, in, static_cast<float*>(operands[2]), band,
              [&](const PoolWindow<float>& window, float* out) { average_pixel(p, operands[1], window, out); });
}

}  // namespace rush
