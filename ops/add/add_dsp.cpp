// SPDX-License-Identifier: Apache-2.0
//
// Four codes a word: two multiply-accumulates each, saturated to a byte. Narrower codes are clamped four at a time in a
// second pass, whose limits would not fit beside the first one's registers.
#include <arm_acle.h>

#include "add.h"

namespace rush {
namespace {

inline int8x4_t splat(int32_t value) {
  return static_cast<int8x4_t>((static_cast<uint32_t>(value) & 0xffu) * 0x01010101u);
}

inline uint32_t load4(const int8_t* from) {
  uint32_t four;
  __builtin_memcpy(&four, from, 4);
  return four;
}

/// max then min on four signed bytes: SSUB8 sets a GE flag per byte, SEL picks by it.
inline int8x4_t clamp4(int8x4_t v, int8x4_t min, int8x4_t max) {
  (void)__ssub8(v, min);
  v = static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(v), static_cast<uint8x4_t>(min)));
  (void)__ssub8(v, max);
  return static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(max), static_cast<uint8x4_t>(v)));
}

void clamp_block(int8_t* out, uint32_t count, const Range& range) {
  const int8x4_t min = splat(range.min), max = splat(range.max);
  int8_t* const end = out + count;
#pragma GCC unroll 1
  for (; end - out >= 4; out += 4) {
    const int8x4_t codes = clamp4(static_cast<int8x4_t>(load4(out)), min, max);
    __builtin_memcpy(out, &codes, 4);
  }
#pragma GCC unroll 1
  for (; out != end; ++out) *out = static_cast<int8_t>(clamp_to(*out, range.min, range.max));
}

inline int8_t lane(uint32_t four, int i) { return static_cast<int8_t>(four >> (8 * i)); }

inline int8_t code_of(int32_t sum, int32_t shift) { return static_cast<int8_t>(__ssat(sum >> shift, 8)); }

// Not inlined: each loop has the registers for itself.
__attribute__((noinline)) void add_block(const int8_t* a, const int8_t* b, int8_t* out, const AddParams& p) {
  const AddScale s = p.scale;
  const int8_t* const end = a + p.walk.block_elements;
#pragma GCC unroll 1
  for (; end - a >= 4; a += 4, b += 4, out += 4) {
    const uint32_t a4 = load4(a), b4 = load4(b);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      out[i] = code_of(lane(a4, i) * s.a_multiplier + (lane(b4, i) * s.b_multiplier + s.offset), s.shift);
  }
#pragma GCC unroll 1
  for (; a != end; ++a, ++b, ++out) *out = code_of(*a * s.a_multiplier + (*b * s.b_multiplier + s.offset), s.shift);
}

__attribute__((noinline)) void add_one_to_block(const int8_t* a, int32_t b, int8_t* out, const AddParams& p) {
  const AddScale s = p.scale;
  const int32_t offset = b * s.b_multiplier + s.offset;
  const int8_t* const end = a + p.walk.block_elements;
#pragma GCC unroll 1
  for (; end - a >= 4; a += 4, out += 4) {
    const uint32_t a4 = load4(a);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) out[i] = code_of(lane(a4, i) * s.a_multiplier + offset, s.shift);
  }
#pragma GCC unroll 1
  for (; a != end; ++a, ++out) *out = code_of(*a * s.a_multiplier + offset, s.shift);
}

}  // namespace

void add_s8_dsp(const void* params, void* const* operands, Band band) {
  const AddParams& p = *static_cast<const AddParams*>(params);
  const bool is_narrow = p.range.min > -128 || p.range.max < 127;
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
      if (is_narrow) clamp_block(out, p.walk.block_elements, p.range);
      a += p.walk.a_block_bytes;
      b += p.walk.b_block_bytes;
      out += p.walk.block_elements;
    }
  }
}

}  // namespace rush
