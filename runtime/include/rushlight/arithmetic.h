// SPDX-License-Identifier: Apache-2.0
//
// The one definition of integer arithmetic, for every core and the host. docs/arithmetic.md has the proofs.
#ifndef RUSHLIGHT_ARITHMETIC_H
#define RUSHLIGHT_ARITHMETIC_H

#include <stdint.h>

namespace rush {

/// Inclusive range of output codes.
struct Range {
  int32_t min;
  int32_t max;
};

inline int32_t clamp_to(int32_t value, int32_t min, int32_t max) {
  return value < min ? min : value > max ? max : value;
}

/// a + b modulo 2^32: a damaged image may hold any numbers.
inline int32_t wrapping_add(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

#if defined(__ARM_ARCH_6M__) || defined(__ARM_ARCH_8M_BASE__)
/// floor(a * b / 2^32) from 16-bit halves: these cores have no long multiply.
inline int32_t multiply_high(int32_t a, int32_t b) {
  const uint32_t a_low = static_cast<uint32_t>(a) & 0xffffu, b_low = static_cast<uint32_t>(b) & 0xffffu;
  const int32_t a_high = a >> 16, b_high = b >> 16;
  const int32_t middle = a_high * static_cast<int32_t>(b_low) + static_cast<int32_t>((a_low * b_low) >> 16);
  const int32_t other = static_cast<int32_t>(a_low) * b_high + (middle & 0xffff);
  return a_high * b_high + (middle >> 16) + (other >> 16);
}
#else
/// floor(a * b / 2^32): SMMUL, SMULL or VMULH.
inline int32_t multiply_high(int32_t a, int32_t b) { return static_cast<int32_t>((static_cast<int64_t>(a) * b) >> 32); }
#endif

// A damaged image may hold any multiplier and shift: the functions below are defined, if of no use, for all of them.

/// acc << left, saturated to int32; 0 <= left <= 31.
inline int32_t saturating_shift_left(int32_t acc, int32_t left) {
  const uint32_t bits = static_cast<uint32_t>(left) & 31u;
  const int32_t limit = INT32_MAX >> bits;
  if (acc > limit) return INT32_MAX;
  if (acc < -limit - 1) return INT32_MIN;
  return static_cast<int32_t>(static_cast<uint32_t>(acc) << bits);
}

/// acc * multiplier / 2^(32 + shift), rounded once, half up. 2^30 <= multiplier < 2^31, 1 <= shift <= 31.
inline int32_t requantize(int32_t acc, int32_t multiplier, int32_t shift) {
  const uint32_t bits = static_cast<uint32_t>(shift) & 31u, half = (uint32_t(1) << bits) >> 1;
  return wrapping_add(multiply_high(acc, multiplier), static_cast<int32_t>(half)) >> bits;
}

/// As requantize, for any shift in [-30, 31]: shift < 1 first shifts acc left by 1 - shift, saturating.
inline int32_t requantize_any(int32_t acc, int32_t multiplier, int32_t shift) {
  if (shift >= 1) return requantize(acc, multiplier, shift);
  return requantize(saturating_shift_left(acc, static_cast<int32_t>(1u - static_cast<uint32_t>(shift))), multiplier, 1);
}

}  // namespace rush
#endif
