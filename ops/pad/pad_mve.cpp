// SPDX-License-Identifier: Apache-2.0
//
// Sixteen codes a turn, the tail predicated. Whole vectors have a loop of their own, as in copy_mve.cpp.
#include <arm_mve.h>

#include "pad.h"

namespace rush {
namespace {

struct Codes {
  using Element = int8_t;
  static int8_t value_of(const PadParams& p) { return static_cast<int8_t>(p.value); }

  [[gnu::noinline]] static int8_t* fill(int8_t* out, int8_t value, uint32_t count) {
    const int8x16_t values = vdupq_n_s8(value);
    for (uint32_t left = count / 16; left != 0; --left) {
      vstrbq_s8(out, values);
      out += 16;
    }
    vstrbq_p_s8(out, values, vctp8q(count % 16));
    return out + count % 16;
  }

  [[gnu::noinline]] static int8_t* copy(int8_t* out, const int8_t* in, uint32_t count) {
    for (uint32_t left = count / 16; left != 0; --left) {
      vstrbq_s8(out, vldrbq_s8(in));
      in += 16;
      out += 16;
    }
    const mve_pred16_t live = vctp8q(count % 16);
    vstrbq_p_s8(out, vldrbq_z_s8(in, live), live);
    return out + count % 16;
  }
};

}  // namespace

void pad_s8_mve(const void* params, void* const* operands, Band band) {
  pad_rows<Codes>(*static_cast<const PadParams*>(params), operands, band);
}

}  // namespace rush
