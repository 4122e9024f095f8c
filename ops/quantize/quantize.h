// SPDX-License-Identifier: Apache-2.0
//
// out[i] = clamp(round(in[i] * inverse_scale) + zero_point), ties to even, as PyTorch does it: the product is
// rounded to float32 first. Infinities clamp, NaN becomes the zero point.
//
// The variants round differently and agree bit for bit: from the float's bits, by adding 1.5 * 2^23, by VCVTN. The
// mve variant needs the float half of Helium.
#ifndef RUSHLIGHT_OPS_QUANTIZE_H
#define RUSHLIGHT_OPS_QUANTIZE_H

#include "rushlight/arithmetic.h"
#include "rushlight/kernel.h"

namespace rush {

/// Operands: 0 in (float32, 4-byte aligned), 1 out (int8; may begin where in begins). Any row_elements >= 1.
struct QuantizeParams {
  Rows in;
  Rows out;
  uint16_t rows;
  int16_t zero_point;
  uint32_t row_elements;
  float inverse_scale;
  int16_t min;
  int16_t max;
};

extern const KernelContract quantize_f32_s8_contract;
Kernel quantize_f32_s8_scalar, quantize_f32_s8_dsp, quantize_f32_s8_mve;

/// Calls row(out, in) for each row of a band.
template <class OnRow>
inline void quantize_rows(const QuantizeParams& p, void* const* operands, Band band, OnRow row) {
  for (int32_t y = band.begin; y < band.end; ++y) {
    row(static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y)),
        reinterpret_cast<const float*>(static_cast<const uint8_t*>(operands[0]) +
                                       row_offset(p.in, static_cast<uint32_t>(y))));
  }
}

}  // namespace rush
#endif
