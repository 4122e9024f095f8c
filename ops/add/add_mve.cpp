// SPDX-License-Identifier: Apache-2.0
//
// Four sums a vector, widened by the loads and narrowed by the store; two vectors a turn, so that no product is waited
// for. The tail is predicated; what is whole has a loop of its own, since GCC 12 makes no tail-predicated ones.
//
// Parameters are copied out before the loops: stores of bytes may alias them, and clang 19 turns loads that stay in a
// loop with VCTP into vector loads, which tail predication then cuts short.
#include <arm_mve.h>

#include "add.h"

namespace rush {

/// clamp((a * a_multiplier + offset + b * b_multiplier) >> shift) of neighbouring elements. The assembly knows the
/// order.
struct AddRun {
  const int8_t* a;
  const int8_t* b;
  int8_t* out;
  uint32_t eights;  ///< elements / 8, at least 1
  int32_t a_multiplier;
  int32_t b_multiplier;
  int32_t offset;
  int32_t shift;  ///< negative: to the right
  int32_t min;
  int32_t max;
};

extern "C" void rush_add_eights(const AddRun* run);

namespace {

inline int32x4_t codes_of(const AddRun& run, int32x4_t sum) {
  return vminq_s32(vmaxq_s32(vshlq_r_s32(sum, run.shift), vdupq_n_s32(run.min)), vdupq_n_s32(run.max));
}

inline int32x4_t product_of(const AddRun& run, int32x4_t a) {
  return vmlasq_n_s32(a, vdupq_n_s32(run.a_multiplier), run.offset);
}

inline int32x4_t sums_of(const AddRun& run, int32x4_t a, int32x4_t b) {
  return codes_of(run, vmlaq_n_s32(product_of(run, a), b, run.b_multiplier));
}

[[gnu::noinline]] void add_block(const AddRun& run, uint32_t tail) {
  if (run.eights != 0) rush_add_eights(&run);
  for (uint32_t done = run.eights * 8, end = done + tail; done < end; done += 4) {
    const mve_pred16_t live = vctp32q(end - done);
    const int32x4_t a = vldrbq_z_s32(run.a + done, live), b = vldrbq_z_s32(run.b + done, live);
    vstrbq_p_s32(run.out + done, sums_of(run, a, b), live);
  }
}

/// Sums with one element of b: no multiple of what takes its place is added.
AddRun with_one(AddRun run) {
  const uint32_t product = static_cast<uint32_t>(run.b_multiplier) * static_cast<uint32_t>(*run.b);
  run.offset = wrapping_add(run.offset, static_cast<int32_t>(product));
  run.b_multiplier = 0;
  run.b = run.a;
  return run;
}

}  // namespace

#ifndef RUSH_ASM
void rush_add_eights(const AddRun* from) {
  const AddRun run = *from;
  const int8_t *a = run.a, *b = run.b;
  int8_t* out = run.out;
#pragma GCC unroll 1
  for (uint32_t left = run.eights; left != 0; --left) {
    const int32x4_t low = sums_of(run, vldrbq_s32(a), vldrbq_s32(b));
    const int32x4_t high = sums_of(run, vldrbq_s32(a + 4), vldrbq_s32(b + 4));
    vstrbq_s32(out, low);
    vstrbq_s32(out + 4, high);
    a += 8;
    b += 8;
    out += 8;
  }
}
#endif

void add_s8_mve(const void* params, void* const* operands, Band band) {
  const AddParams& p = *static_cast<const AddParams*>(params);
  const AddScale& s = p.scale;
  const uint32_t count = p.walk.block_elements;
  AddRun run = {nullptr,        nullptr,  nullptr,  count / 8,   s.a_multiplier,
                s.b_multiplier, s.offset, -s.shift, p.range.min, p.range.max};
  for (int32_t y = band.begin; y < band.end; ++y) {
    run.a = static_cast<const int8_t*>(operands[0]) + row_offset(p.walk.a, static_cast<uint32_t>(y));
    run.b = static_cast<const int8_t*>(operands[1]) + row_offset(p.walk.b, static_cast<uint32_t>(y));
    run.out = static_cast<int8_t*>(operands[2]) + row_offset(p.walk.out, static_cast<uint32_t>(y));
    for (uint32_t block = 0; block < p.walk.blocks; ++block) {
      add_block(p.walk.b_step != 0 ? run : with_one(run), count % 8);
      run.a += p.walk.a_block_bytes;
      run.b += p.walk.b_block_bytes;
      run.out += count;
    }
  }
}

}  // namespace rush
