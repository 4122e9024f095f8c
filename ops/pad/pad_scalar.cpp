// SPDX-License-Identifier: Apache-2.0
//
// The portable variants. Codes are moved a word at a time where both sides are aligned.
#include "pad.h"

namespace rush {
namespace {

bool aligned(const void* a, const void* b) {
  return ((reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b)) & 3u) == 0;
}

struct Codes {
  using Element = int8_t;
  static int8_t value_of(const PadParams& p) { return static_cast<int8_t>(p.value); }

  // Neither is inlined: small cores have just the registers for their loops.
  static __attribute__((noinline)) int8_t* fill(int8_t* out, int8_t value, uint32_t count) {
    if (aligned(out, out)) {
      const uint32_t word = static_cast<uint8_t>(value) * 0x01010101u;
      for (; count >= 4; count -= 4) {
        __builtin_memcpy(__builtin_assume_aligned(out, 4), &word, 4);
        out += 4;
      }
    }
    for (; count != 0; --count) *out++ = value;
    return out;
  }

  static __attribute__((noinline)) int8_t* copy(int8_t* out, const int8_t* in, uint32_t count) {
    if (aligned(out, in)) {
      for (; count >= 4; count -= 4) {
        uint32_t word;
        __builtin_memcpy(&word, __builtin_assume_aligned(in, 4), 4);
        __builtin_memcpy(__builtin_assume_aligned(out, 4), &word, 4);
        in += 4;
        out += 4;
      }
    }
    for (; count != 0; --count) *out++ = *in++;
    return out;
  }
};

/// Floats move as their bits, so that no NaN changes on the way.
struct Floats {
  using Element = uint32_t;
  static uint32_t value_of(const PadParams& p) { return p.value; }

  static uint32_t* fill(uint32_t* out, uint32_t value, uint32_t count) {
    for (; count != 0; --count) *out++ = value;
    return out;
  }

  static uint32_t* copy(uint32_t* out, const uint32_t* in, uint32_t count) {
    for (; count != 0; --count) *out++ = *in++;
    return out;
  }
};

}  // namespace

void pad_s8_scalar(const void* params, void* const* operands, Band band) {
  pad_rows<Codes>(*static_cast<const PadParams*>(params), operands, band);
}

void pad_f32_scalar(const void* params, void* const* operands, Band band) {
  pad_rows<Floats>(*static_cast<const PadParams*>(params), operands, band);
}

}  // namespace rush
