// SPDX-License-Identifier: Apache-2.0
//
// Four codes a word: two multiply-accumulates each, saturated to a byte, then clamped four at a time.
#include <arm_acle.h>

#include "add.h"

namespace rush {
namespace {

struct Scaling {
  AddScale scale;
  int8x4_t min;
  int8x4_t max;
};

inline int8x4_t splat(int32_t value) {
  return static_cast<int8x4_t>((static_cast<uint32_t>(value) & 0xffu) * 0x01010101u);
}

inline uint32_t load4(const int8_t* from) {
  uint32_t four;
  __builtin_memcpy(&four, from, 4);
  return four;
}

inline int32_t lane(uint32_t four, int i) { return static_cast<int8_t>(four >> (8 * i)); }

/// max then min on four signed bytes: SSUB8 sets a GE flag per byte, SEL picks by it.
inline int8x4_t clamp4(int8x4_t v, const Scaling& s) {
  (void)__ssub8(v, s.min);
  v = static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(v), static_cast<uint8x4_t>(s.min)));
  (void)__ssub8(v, s.max);
  return static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(s.max), static_cast<uint8x4_t>(v)));
}

inline uint32_t byte_of(int32_t sum, const Scaling& s) {
  return static_cast<uint32_t>(__ssat(sum >> s.scale.shift, 8)) & 0xffu;
}

/// a and b: four codes each.
inline void store_sums(int8_t* out, uint32_t a, uint32_t b, const Scaling& s) {
  uint32_t packed = 0;
  for (int i = 0; i < 4; ++i) {
    const int32_t sum = lane(a, i) * s.scale.a_multiplier + (lane(b, i) * s.scale.b_multiplier + s.scale.offset);
    packed |= byte_of(sum, s) << (8 * i);
  }
  const int8x4_t codes = clamp4(static_cast<int8x4_t>(packed), s);
  __builtin_memcpy(out, &codes, 4);
}

inline void store_sums(int8_t* out, uint32_t a, const Scaling& s) {
  uint32_t packed = 0;
  for (int i = 0; i < 4; ++i) packed |= byte_of(lane(a, i) * s.scale.a_multiplier + s.scale.offset, s) << (8 * i);
  const int8x4_t codes = clamp4(static_cast<int8x4_t>(packed), s);
  __builtin_memcpy(out, &codes, 4);
}

inline int8_t code_of(int32_t sum, const AddParams& p) {
  return static_cast<int8_t>(clamp_to(sum >> p.scale.shift, p.range.min, p.range.max));
}

void add_block(const int8_t* a, const int8_t* b, int8_t* out, const AddParams& p) {
  const Scaling s = {p.scale, splat(p.range.min), splat(p.range.max)};
  uint32_t i = 0;
  for (; i + 4 <= p.walk.block_elements; i += 4) store_sums(out + i, load4(a + i), load4(b + i), s);
  for (; i < p.walk.block_elements; ++i) {
    out[i] = code_of(a[i] * s.scale.a_multiplier + (b[i] * s.scale.b_multiplier + s.scale.offset), p);
  }
}

void add_one_to_block(const int8_t* a, int32_t b, int8_t* out, const AddParams& p) {
  Scaling s = {p.scale, splat(p.range.min), splat(p.range.max)};
  s.scale.offset += b * s.scale.b_multiplier;
  uint32_t i = 0;
  for (; i + 4 <= p.walk.block_elements; i += 4) store_sums(out + i, load4(a + i), s);
  for (; i < p.walk.block_elements; ++i) out[i] = code_of(a[i] * s.scale.a_multiplier + s.scale.offset, p);
}

}  // namespace

void add_s8_dsp(const void* params, void* const* operands, Band band) {
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
