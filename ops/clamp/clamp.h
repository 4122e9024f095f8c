// SPDX-License-Identifier: Apache-2.0
//
// out[i] = min(max(in[i], min), max), row by row.
#ifndef RUSHLIGHT_OPS_CLAMP_H
#define RUSHLIGHT_OPS_CLAMP_H

#include "rushlight/arithmetic.h"
#include "rushlight/kernel.h"

namespace rush {

/// Operands: 0 in, 1 out (may be in). Any row_elements >= 1, any alignment; touches nothing past a row's end.
struct ClampParams {
  Rows in;
  Rows out;
  uint16_t rows;
  uint16_t reserved;
  uint32_t row_elements;
  Range range;
};

extern const KernelContract clamp_s8_contract;
Kernel clamp_s8_scalar, clamp_s8_dsp, clamp_s8_mve;

/// float32; operands 4-byte aligned. NaN stays NaN.
struct ClampF32Params {
  Rows in;
  Rows out;
  uint16_t rows;
  uint16_t reserved;
  uint32_t row_elements;
  float min;
  float max;
};

extern const KernelContract clamp_f32_contract;
Kernel clamp_f32_scalar;

}  // namespace rush
#endif
