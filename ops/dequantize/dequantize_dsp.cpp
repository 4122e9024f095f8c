// SPDX-License-Identifier: Apache-2.0
//
// Four codes a turn: one load for all, so that four conversions and products can overlap.
#include "dequantize.h"

namespace rush {

void dequantize_s8_f32_dsp(const void* params, void* const* operands, Band band) {
  const DequantizeParams& p = *static_cast<const DequantizeParams*>(params);
  const float scale = p.scale;
  const int32_t zero_point = p.zero_point;
  dequantize_rows(p, operands, band, [=, &p](float* out, const int8_t* in) {
    uint32_t i = 0;
    for (; i + 4 <= p.row_elements; i += 4) {
      uint32_t codes;
      __builtin_memcpy(&codes, in + i, 4);
      out[i] = static_cast<float>(static_cast<int8_t>(codes) - zero_point) * scale;
      out[i + 1] = static_cast<float>(static_cast<int8_t>(codes >> 8) - zero_point) * scale;
      out[i + 2] = static_cast<float>(static_cast<int8_t>(codes >> 16) - zero_point) * scale;
      out[i + 3] = static_cast<float>(static_cast<int8_t>(codes >> 24) - zero_point) * scale;
    }
    for (; i < p.row_elements; ++i) out[i] = static_cast<float>(in[i] - zero_point) * scale;
  });
}

}  // namespace rush
