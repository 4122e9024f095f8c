// SPDX-License-Identifier: Apache-2.0
//
// out[i] = clamp(round(a[i] * a_multiplier + b[i] * b_multiplier + offset)), with broadcasting.
//
// A row is `blocks` blocks of `block_elements`. An operand that does not advance along an axis repeats itself:
// along rows it is a ring of one row, along blocks its step is 0, inside a block (only b) its step is 0.
#ifndef RUSHLIGHT_OPS_ADD_H
#define RUSHLIGHT_OPS_ADD_H

#include "rushlight/arithmetic.h"
#include "rushlight/kernel.h"

namespace rush {

/// How the three maps are walked. a advances inside a block, b by b_step elements (0 or 1).
struct AddWalk {
  Rows a;
  Rows b;
  Rows out;
  uint16_t rows;
  uint16_t b_step;
  uint32_t blocks;
  uint32_t block_elements;
  uint32_t a_block_bytes;  ///< from one block of a to the next; out's is that of its elements
  uint32_t b_block_bytes;
};

/// (a * a_multiplier + b * b_multiplier + offset) >> shift. The compiler chooses the largest shift at which no code
/// overflows 32 bits; offset holds the zero points and the half of the one rounding.
struct AddScale {
  int32_t a_multiplier;
  int32_t b_multiplier;
  int32_t offset;
  int32_t shift;  ///< [1, 30]
};

/// Operands: 0 a, 1 b, 2 out (may be a or b where that one repeats nothing; a may be b). Any alignment; touches
/// nothing past a row's end.
struct AddParams {
  AddWalk walk;
  AddScale scale;
  Range range;
};

extern const KernelContract add_s8_contract;
Kernel add_s8_scalar, add_s8_dsp, add_s8_mve;

/// clamp(a * a_factor + b * b_factor) in float32; operands 4-byte aligned. NaN stays NaN.
struct AddF32Params {
  AddWalk walk;
  float a_factor;
  float b_factor;
  float min;
  float max;
};

extern const KernelContract add_f32_contract;
Kernel add_f32_scalar;

}  // namespace rush
#endif
