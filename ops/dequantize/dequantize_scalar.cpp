// SPDX-License-Identifier: Apache-2.0
//
// The portable variant.
#include "dequantize.h"

namespace rush {

void dequantize_s8_f32_scalar(const void* params, void* const* operands, Band band) {
  const DequantizeParams& p = *static_cast<const DequantizeParams*>(params);
  dequantize_rows(p, operands, band, [&p](float* out, const int8_t* in) {
    for (uint32_t i = 0; i < p.row_elements; ++i) out[i] = static_cast<float>(in[i] - p.zero_point) * p.scale;
  });
}

}  // namespace rush
