// SPDX-License-Identifier: Apache-2.0
//
// The portable variants.
#include "clamp.h"

namespace rush {

void clamp_s8_scalar(const void* params, void* const* operands, Band band) {
  const ClampParams& p = *static_cast<const ClampParams*>(params);
  for (int32_t y = band.begin; y < band.end; ++y) {
    const int8_t* in = static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (uint32_t i = 0; i < p.row_elements; ++i) {
      out[i] = static_cast<int8_t>(clamp_to(in[i], p.range.min, p.range.max));
    }
  }
}

void clamp_f32_scalar(const void* params, void* const* operands, Band band) {
  const ClampF32Params& p = *static_cast<const ClampF32Params*>(params);
  for (int32_t y = band.begin; y < band.end; ++y) {
    const float* in = static_cast<const float*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)) / 4;
    float* out = static_cast<float*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y)) / 4;
    for (uint32_t i = 0; i < p.row_elements; ++i) {
      const float x = in[i];
      out[i] = x < p.min ? p.min : x > p.max ? p.max : x;
    }
  }
}

}  // namespace rush
