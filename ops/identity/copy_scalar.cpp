// SPDX-License-Identifier: Apache-2.0
//
// Four words a turn (load and store multiple) where both sides are aligned, else byte by byte: a core of this
// class may have no unaligned access. Not inlined, since eight registers are too few for the walk and the words.
#include "copy.h"

namespace rush {
namespace {

__attribute__((noinline)) void copy_bytes(uint8_t* out, const uint8_t* in, uint32_t bytes) {
  if (((reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in)) & 3u) == 0) {
    for (; bytes >= 16; bytes -= 16) {
      __builtin_memcpy(__builtin_assume_aligned(out, 4), __builtin_assume_aligned(in, 4), 16);
      in += 16;
      out += 16;
    }
    for (; bytes >= 4; bytes -= 4) {
      __builtin_memcpy(__builtin_assume_aligned(out, 4), __builtin_assume_aligned(in, 4), 4);
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
