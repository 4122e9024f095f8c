// SPDX-License-Identifier: Apache-2.0
//
// The portable variants.
#include "add.h"

namespace rush {
namespace {

/// code * multiplier + addend modulo 2^32, since a damaged image may hold any multiplier.
inline int32_t multiply_add(int32_t code, int32_t multiplier, int32_t addend) {
  return static_cast<int32_t>(static_cast<uint32_t>(code) * static_cast<uint32_t>(multiplier) +
                              static_cast<uint32_t>(addend));
}

inline int8_t code_of(int32_t sum, const AddParams& p) {
  return static_cast<int8_t>(clamp_to(sum >> p.scale.shift, p.range.min, p.range.max));
}

void add_block(const int8_t* a, const int8_t* b, int8_t* out, const AddParams& p) {
  for (uint32_t i = 0; i < p.walk.block_elements; ++i) {
    const int32_t from_b = multiply_add(b[i], p.scale.b_multiplier, p.scale.offset);
    out[i] = code_of(multiply_add(a[i], p.scale.a_multiplier, from_b), p);
  }
}

void add_one_to_block(const int8_t* a, int32_t b, int8_t* out, const AddParams& p) {
  const int32_t from_b = multiply_add(b, p.scale.b_multiplier, p.scale.offset);
  for (uint32_t i = 0; i < p.walk.block_elements; ++i) {
    out[i] = code_of(multiply_add(a[i], p.scale.a_multiplier, from_b), p);
  }
}

inline float sum_of(float a, float b, const AddF32Params& p) {
  const float sum = a * p.a_factor + b * p.b_factor;
  return sum < p.min ? p.min : sum > p.max ? p.max : sum;
}

}  // namespace

void add_s8_scalar(const void* params, void* const* operands, Band band) {
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

void add_f32_scalar(const void* params, void* const* operands, Band band) {
  const AddF32Params& p = *static_cast<const AddF32Params*>(params);
  for (int32_t y = band.begin; y < band.end; ++y) {
    const float* a = static_cast<const float*>(operands[0]) + row_offset(p.walk.a, static_cast<uint32_t>(y)) / 4;
    const float* b = static_cast<const float*>(operands[1]) + row_offset(p.walk.b, static_cast<uint32_t>(y)) / 4;
    float* out = static_cast<float*>(operands[2]) + row_offset(p.walk.out, static_cast<uint32_t>(y)) / 4;
    for (uint32_t block = 0; block < p.walk.blocks; ++block) {
      for (uint32_t i = 0; i < p.walk.block_elements; ++i) out[i] = sum_of(a[i], b[i * p.walk.b_step], p);
      a += p.walk.a_block_bytes / 4;
      b += p.walk.b_block_bytes / 4;
      out += p.walk.block_elements;
    }
  }
}

}  // namespace rush
