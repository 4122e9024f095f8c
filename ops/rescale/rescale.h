// SPDX-License-Identifier: Apache-2.0
//
// out[i] = table[in[i]], row by row: codes of one quantization become codes of another, exactly as PyTorch's
// dequantize and quantize do it in float32, which the compiler worked out for all 256.
#ifndef RUSHLIGHT_OPS_RESCALE_H
#define RUSHLIGHT_OPS_RESCALE_H

#include "rushlight/kernel.h"

namespace rush {

/// Operands: 0 in, 1 table of 256 codes by the bits of the input code, 2 out (may be in). Any row_elements >= 1, any
/// alignment; touches nothing past a row's end.
struct RescaleParams {
  Rows in;
  Rows out;
  uint16_t rows;
  uint16_t reserved;
  uint32_t row_elements;
};

extern const KernelContract rescale_s8_contract;
Kernel rescale_s8_scalar, rescale_s8_dsp, rescale_s8_mve;

}  // namespace rush
#endif
