// SPDX-License-Identifier: Apache-2.0
//
// Sixteen codes a turn, the tail predicated.
#include <arm_mve.h>

#include "pad.h"

namespace rush {
namespace {

struct Codes {
  using Element = int8_t;
  static int8_t value_of(const PadParams& p) { return static_cast<int8_t>(p.value); }

  static int8_t* fill(int8_t* out, int8_t value, uint32_t count) {
    const int8x16_t values = vdupq_n_s8(value);
    for (uint32_t i = 0; i < count; i += 16) vstrbq_p_s8(out + i, values, vctp8q(count - i));
    return out + count;
  }

  static int8_t* copy(int8_t* out, const int8_t* in, uint32_t count) {
    for (uint32_t i = 0; i < count; i += 16) {
      const mve_pred16_t live = vctp8q(count - i);
      vstrbq_p_s8(out + i, vldrbq_z_s8(in + i, live), live);
    }
    return out + count;
  }
};

}  // namespace

void pad_s8_mve(const void* params, void* const* operands, Band band) {
  pad_rows<Codes>(*static_cast<const PadParams*>(params), operands, band);
}

}  // namespace rush
