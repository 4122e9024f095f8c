// SPDX-License-Identifier: Apache-2.0
//
// The portable variants.
#include "../conv2d/conv2d_outputs_scalar.h"
#include "linear.h"

namespace rush {
namespace {

inline float clamp_f32(float value, float min, float max) { return value < min ? min : value > max ? max : value; }

void position_f32(const LinearF32Params& p, void* const* operands, const float* x, float* out) {
  const float* w = static_cast<const float*>(operands[2]);
  const float* const bias = static_cast<const float*>(operands[3]);
  RUSH_ROLLED for (uint32_t o = 0; o < p.out_features; ++o) {
    float sum = 0;
    RUSH_ROLLED for (uint32_t k = 0; k < p.in_features; ++k) sum += x[k] * *w++;
    out[o] = clamp_f32(sum + bias[o], p.min, p.max);
  }
}

}  // namespace

void linear_s8_scalar(const void* params, void* const* operands, Band band) {
  const LinearParams& p = *static_cast<const LinearParams*>(params);
  const OutputLayer layer = {static_cast<const int8_t*>(operands[2]), static_cast<const ChannelBlock*>(operands[3]),
                             &p.codes, p.out_features};
  InputWindow window = {nullptr, {0, 0, 0xffffffffu}, {1, p.in_features}};
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    window.x = static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    RUSH_ROLLED for (uint32_t left = p.positions; left != 0; --left) {
      window_outputs(window, layer, out);
      window.x += p.in_features;
      out += p.out_features;
    }
  }
}

void linear_f32_scalar(const void* params, void* const* operands, Band band) {
  const LinearF32Params& p = *static_cast<const LinearF32Params*>(params);
  RUSH_ROLLED for (int32_t y = band.begin; y < band.end; ++y) {
    const float* x = static_cast<const float*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)) / 4;
    float* out = static_cast<float*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y)) / 4;
    RUSH_ROLLED for (uint32_t left = p.positions; left != 0; --left) {
      position_f32(p, operands, x, out);
      x += p.in_features;
      out += p.out_features;
    }
  }
}

}  // namespace rush
