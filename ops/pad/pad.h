// SPDX-License-Identifier: Apache-2.0
//
// A map inside a larger one, the rest filled with a value; negative amounts cut off. Rows, segments of a row and
// elements of a segment can each be padded:
//
//   out row = before * fill, { left * fill, `elements` of the input, right * fill } per segment, after * fill
#ifndef RUSHLIGHT_OPS_PAD_H
#define RUSHLIGHT_OPS_PAD_H

#include "rushlight/kernel.h"

namespace rush {

/// Operands: 0 in (where the part to be copied begins in row 0), 1 out. Counts in elements of 1 byte (pad_s8, any
/// alignment) or 4 (pad_f32, aligned). Output row y is input row y - top, if there is one.
struct PadParams {
  Rows in;
  Rows out;
  uint16_t in_rows;
  uint16_t rows;
  int16_t top;
  uint16_t reserved;
  uint32_t segments;
  uint32_t elements;  ///< of a segment, copied
  uint32_t in_pitch;  ///< elements from one input segment to the next
  uint32_t before;
  uint32_t after;
  uint32_t left;
  uint32_t right;
  uint32_t value;  ///< the fill: a code, or a float's bits
};

extern const KernelContract pad_s8_contract;
Kernel pad_s8_scalar, pad_s8_dsp, pad_s8_mve;

extern const KernelContract pad_f32_contract;
Kernel pad_f32_scalar;

/// Walks a band. `Move` has the element type and writes runs of it: fill(out, value, count) and copy(out, in, count)
/// return the end of what they wrote.
template <class Move>
inline void pad_rows(const PadParams& p, void* const* operands, Band band) {
  using Element = typename Move::Element;
  const Element value = Move::value_of(p);
  const uint32_t row_elements = p.before + p.segments * (p.left + p.elements + p.right) + p.after;
  for (int32_t y = band.begin; y < band.end; ++y) {
    Element* out =
        reinterpret_cast<Element*>(static_cast<uint8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y)));
    const int32_t in_y = y - p.top;
    if (in_y < 0 || in_y >= p.in_rows) {
      Move::fill(out, value, row_elements);
      continue;
    }
    const Element* in = reinterpret_cast<const Element*>(static_cast<const uint8_t*>(operands[0]) +
                                                         row_offset(p.in, static_cast<uint32_t>(in_y)));
    out = Move::fill(out, value, p.before);
    for (uint32_t s = 0; s < p.segments; ++s) {
      out = Move::fill(out, value, p.left);
      out = Move::copy(out, in, p.elements);
      out = Move::fill(out, value, p.right);
      in += p.in_pitch;
    }
    Move::fill(out, value, p.after);
  }
}

}  // namespace rush
#endif
