// SPDX-License-Identifier: Apache-2.0
//
// Four words a turn at any alignment: these cores load and store unaligned words.
#include "copy.h"

namespace rush {
namespace {

inline void copy_word(uint8_t* out, const uint8_t* in) { __builtin_memcpy(out, in, 4); }

inline void copy_bytes(uint8_t* out, const uint8_t* in, uint32_t bytes) {
  for (; bytes >= 16; bytes -= 16) {
    copy_word(out, in);
    copy_word(out + 4, in + 4);
    copy_word(out + 8, in + 8);
    copy_word(out + 12, in + 12);
    in += 16;
    out += 16;
  }
  for (; bytes >= 4; bytes -= 4) {
    copy_word(out, in);
    in += 4;
    out += 4;
  }
  for (; bytes != 0; --bytes) *out++ = *in++;
}

}  // namespace

void copy_dsp(const void* params, void* const* operands, Band band) {
  copy_segments(*static_cast<const CopyParams*>(params), operands, band, copy_bytes);
}

}  // namespace rush
