// SPDX-License-Identifier: Apache-2.0
//
// What the runtime and its kernels need of the C library, for --opt size: newlib's memcpy and memset are unrolled, 400
// bytes of code. The empty assembly keeps compilers from making calls of themselves of these loops.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern "C" void* memcpy(void* to, const void* from, size_t bytes) {
  uint8_t* out = static_cast<uint8_t*>(to);
  const uint8_t* in = static_cast<const uint8_t*>(from);
#if defined(__ARM_FEATURE_MVE)
  __asm volatile(
      "wlstp.8 lr, %2, 2f\n"
      "1: vldrb.8 q0, [%1], #16\n"
      "vstrb.8 q0, [%0], #16\n"
      "letp lr, 1b\n"
      "2:"
      : "+r"(out), "+r"(in)
      : "r"(bytes)
      : "lr", "s0", "s1", "s2", "s3", "memory");
#else
  if (((reinterpret_cast<uintptr_t>(out) | reinterpret_cast<uintptr_t>(in)) & 3u) == 0) {
    for (; bytes >= 4; bytes -= 4, in += 4, out += 4) {
      *reinterpret_cast<uint32_t*>(out) = *reinterpret_cast<const uint32_t*>(in);
      __asm volatile("" ::: "memory");
    }
  }
  for (; bytes != 0; --bytes) {
    *out++ = *in++;
    __asm volatile("" ::: "memory");
  }
#endif
  return to;
}

extern "C" void* memset(void* to, int value, size_t bytes) {
  uint8_t* out = static_cast<uint8_t*>(to);
#if defined(__ARM_FEATURE_MVE)
  __asm volatile(
      "vdup.8 q0, %1\n"
      "wlstp.8 lr, %2, 2f\n"
      "1: vstrb.8 q0, [%0], #16\n"
      "letp lr, 1b\n"
      "2:"
      : "+r"(out)
      : "r"(value), "r"(bytes)
      : "lr", "s0", "s1", "s2", "s3", "memory");
#else
  for (; bytes != 0; --bytes) {
    *out++ = static_cast<uint8_t>(value);
    __asm volatile("" ::: "memory");
  }
#endif
  return to;
}
