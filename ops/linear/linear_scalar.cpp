// SPDX-License-Identifier: Apache-2.0
//
// The portable variants.
#include "../conv2d/conv2d_dot_scalar.h"
#include "linear.h"
#include "linear_walk.h"

namespace rush {
namespace {

struct ScalarLinear {
  static const int8_t* dot(LinearTile* tile, const int8_t* w) {
    int32_t* const sums = tile->sums.sum;
    sums[0] = sums[1] = sums[2] = sums[3] = 0;
    if (tile->count == 4) return dot_four(tile->x, w, tile->features, sums);
    RUSH_ROLLED for (uint32_t j = 0; j < tile->count; ++j) w = dot_one(tile->x, w, tile->features, sums + j);
    return w;
  }

  static void store(const ChannelBlock& block, const OutputCodes& codes, BlockSums* sums, uint32_t count) {
    store_codes(block, codes, sums, count);
  }
};

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
  walk_linear<ScalarLinear>(*static_cast<const LinearParams*>(params), operands, band);
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
