// SPDX-License-Identifier: Apache-2.0
//
// A word at a time at any alignment: these cores load and store unaligned words.
#include "pad.h"

namespace rush {
namespace {

struct Codes {
  using Element = int8_t;
  static int8_t value_of(const PadParams& p) { return static_cast<int8_t>(p.value); }

  static int8_t* fill(int8_t* out, int8_t value, uint32_t count) {
    const uint32_t word = static_cast<uint8_t>(value) * 0x01010101u;
    for (; count >= 4; count -= 4) {
      __builtin_memcpy(out, &word, 4);
      out += 4;
    }
    for (; count != 0; --count) *out++ = value;
    return out;
  }

  static int8_t* copy(int8_t* out, const int8_t* in, uint32_t count) {
    for (; count >= 8; count -= 8) {
      uint32_t first, second;
      __builtin_memcpy(&first, in, 4);
      __builtin_memcpy(&second, in + 4, 4);
      __builtin_memcpy(out, &first, 4);
      __builtin_memcpy(out + 4, &second, 4);
      in += 8;
      out += 8;
    }
    for (; count != 0; --count) *out++ = *in++;
    return out;
  }
};

}  // namespace

void pad_s8_dsp(const void* params, void* const* operands, Band band) {
  pad_rows<Codes>(*static_cast<const PadParams*>(params), operands, band);
}

}  // namespace rush
