// SPDX-License-Identifier: Apache-2.0
//
// Four sums a vector, widened by the loads and narrowed by the store.
//
// Parameters are copied out before the loops: stores of bytes may alias them, and clang 19 turns loads that stay in a
// loop with VCTP into vector loads, which tail predication then cuts short.
#include <arm_mve.h>

#include "add.h"

namespace rush {
namespace {

/// How a vector of sums becomes codes.
struct Codes {
  int32x4_t min;
  int32x4_t max;
  int32_t shift;
};

inline Codes codes_of(const AddParams& p) {
  return {vdupq_n_s32(p.range.min), vdupq_n_s32(p.range.max), -p.scale.shift};
}

inline void store_codes(int8_t* out, int32x4_t sum, const Codes& codes, mve_pred16_t live) {
  vstrbq_p_s32(out, vminq_s32(vmaxq_s32(vshlq_r_s32(sum, codes.shift), codes.min), codes.max), live);
}

void add_block(const int8_t* a, const int8_t* b, int8_t* out, const AddParams& p) {
  const Codes codes = codes_of(p);
  const int32x4_t a_multiplier = vdupq_n_s32(p.scale.a_multiplier);
  const int32_t b_multiplier = p.scale.b_multiplier, offset = p.scale.offset;
  for (int32_t left = static_cast<int32_t>(p.walk.block_elements); left > 0; left -= 4) {
    const mve_pred16_t live = vctp32q(static_cast<uint32_t>(left));
    const int32x4_t sum = vmlasq_n_s32(vldrbq_z_s32(a, live), a_multiplier, offset);
    store_codes(out, vmlaq_n_s32(sum, vldrbq_z_s32(b, live), b_multiplier), codes, live);
    a += 4;
    b += 4;
    out += 4;
  }
}

void add_one_to_block(const int8_t* a, int32_t b, int8_t* out, const AddParams& p) {
  const Codes codes = codes_of(p);
  const int32x4_t a_multiplier = vdupq_n_s32(p.scale.a_multiplier);
  const int32_t offset = b * p.scale.b_multiplier + p.scale.offset;
  for (int32_t left = static_cast<int32_t>(p.walk.block_elements); left > 0; left -= 4) {
    const mve_pred16_t live = vctp32q(static_cast<uint32_t>(left));
    store_codes(out, vmlasq_n_s32(vldrbq_z_s32(a, live), a_multiplier, offset), codes, live);
    a += 4;
    out += 4;
  }
}

}  // namespace

void add_s8_mve(const void* params, void* const* operands, Band band) {
  const AddParams& p = *static_cast<const AddParams*>(params);
  for (int32_t y = band.begin; y < band.end; ++y) {
    const int8_t* a = static_cast<const int8_t*>(operands[0]) + row_offset(p.walk.a, static_cast<uint32_t>(y));
    const int8_t* b = static_cast<const int8_t*>(operands[1]) + row_offset(p.walk.b, static_cast<uint32_t>(y));
    int8_t* out = static_cast<int8_t*>(operands[2]) + row_offset(p.walk.out, static_cast<uint32_t>(y));
    for (uint32_t block = 0; block < p.walk.blocks; ++block) {
      if (p.walk.b_step) {
        add_block(a, b, out, p);
      } else {
        add_one_to_block(a, *b, out, p);
      }
      a += p.walk.a_block_bytes;
      b += p.walk.b_block_bytes;
      out += p.walk.block_elements;
    }
  }
}

}  // namespace rush
