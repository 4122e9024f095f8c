// SPDX-License-Identifier: Apache-2.0
//
// out[i] = float(in[i] - zero_point) * scale, in float32.
//
// The mve variant needs the float half of Helium.
#ifndef RUSHLIGHT_OPS_DEQUANTIZE_H
#define RUSHLIGHT_OPS_DEQUANTIZE_H

#include "rushlight/kernel.h"

namespace rush {

/// Operands: 0 in (int8), 1 out (float32, 4-byte aligned); they must not overlap. Any row_elements >= 1.
struct DequantizeParams {
  Rows in;
  Rows out;
  uint16_t rows;
  int16_t zero_point;
  uint32_t row_elements;
  float scale;
};

extern const KernelContract dequantize_s8_f32_contract;
Kernel dequantize_s8_f32_scalar, dequantize_s8_f32_dsp, dequantize_s8_f32_mve;

/// Calls row(out, in) for each row of a band.
template <class OnRow>
inline void dequantize_rows(const DequantizeParams& p, void* const* operands, Band band, OnRow row) {
  for (int32_t y = band.begin; y < band.end; ++y) {
    row(reinterpret_cast<float*>(static_cast<uint8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y))),
        static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)));
  }
}

}  // namespace rush
#endif
