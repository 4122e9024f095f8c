// SPDX-License-Identifier: Apache-2.0
//
// Four words a turn where both sides are aligned, else byte by byte: a core of this class may have no unaligned
// access. Not inlined, since eight registers are too few for the walk and the words.
#include "copy.h"

namespace rush {
namespace {

inline uint32_t load_word(const uint8_t* from) {
  uint32_t word;
  __builtin_memcpy(&word, __builtin_assume_aligned(from, 4), 4);
  return word;
}

inline void store_word(uint8_t* to, uint32_t word) { __builtin_memcpy(__builtin_assume_aligned(to, 4), &word, 4); }

__attribute__((noinline)) void copy_bytes(uint8_t* out, const uint8_t* in, uint32_t bytes) {
  if (((reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in)) & 3u) == 0) {
    for (; bytes >= 16; bytes -= 16) {
      const uint32_t a = load_word(in), b = load_word(in + 4), c = load_word(in + 8), d = load_word(in + 12);
      store_word(out, a);
      store_word(out + 4, b);
      store_word(out + 8, c);
      store_word(out + 12, d);
      in += 16;
      out += 16;
    }
    for (; bytes >= 4; bytes -= 4) {
      store_word(out, load_word(in));
      in += 4;
      out += 4;
    }
  }
  for (; bytes != 0; --bytes) *out++ = *in++;
}

}  // namespace

void copy_scalar(const void* params, void* const* operands, Band band) {
  copy_segments(*static_cast<const CopyParams*>(params), operands, band, copy_bytes);
}

}  // namespace rush
