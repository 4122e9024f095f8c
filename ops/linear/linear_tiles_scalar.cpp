// SPDX-License-Identifier: Apache-2.0
//
// For the host only: the same layers, with their weights unpacked.
#include "../conv2d/conv2d_outputs_scalar.h"
#include "linear_tiles.h"

namespace rush {
namespace {

/// Eight outputs of a position at a time, their channels put together.
void position_outputs(const LinearOneScaleParams& p, void* const* operands, const int8_t* x, int8_t* out) {
  const uint32_t inputs = p.layer.in_features, outputs = p.layer.out_features;
  const int8_t* const weights = static_cast<const int8_t*>(operands[2]);
  const int32_t* const biases = static_cast<const int32_t*>(operands[3]);
  const InputWindow window = {x, {0, 0, 0xffffffffu}, {1, inputs}};
  ChannelBlock channels[kLinearBlock / 4];
  for (uint32_t first = 0; first < outputs; first += kLinearBlock) {
    for (uint32_t i = 0; i < kLinearBlock; ++i) {
      channels[i / 4].bias[i % 4] = biases[first + i];
      channels[i / 4].scale[i % 4] = p.scale;
    }
    const uint32_t left = outputs - first;
    window_outputs(window,
                   {weights + first * inputs, channels, &p.layer.codes, left < kLinearBlock ? left : kLinearBlock},
                   out + first);
  }
}

}  // namespace

void linear_tiles_s8_scalar(const void* params, void* const* operands, Band band) {
  linear_s8_scalar(params, operands, band);
}

void linear_one_scale_s8_scalar(const void* params, void* const* operands, Band band) {
  const LinearOneScaleParams& p = *static_cast<const LinearOneScaleParams*>(params);
  for (int32_t y = band.begin; y < band.end; ++y) {
    const int8_t* x = static_cast<const int8_t*>(operands[0]) + row_offset(p.layer.in, static_cast<uint32_t>(y));
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(p.layer.out, static_cast<uint32_t>(y));
    for (uint32_t left = p.layer.positions; left != 0; --left) {
      position_outputs(p, operands, x, out);
      x += p.layer.in_features;
      out += p.layer.out_features;
    }
  }
}

}  // namespace rush
