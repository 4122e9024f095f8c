// SPDX-License-Identifier: Apache-2.0
//
// exp(x) for x <= 0 in float32, the same bits on every core: no library, one fixed order of operations.
#ifndef RUSHLIGHT_OPS_EXPONENTIAL_H
#define RUSHLIGHT_OPS_EXPONENTIAL_H

#include <stdint.h>

namespace rush {

/// Relative error below 2e-7; 0 where the result would be below the smallest normal number, NaN for NaN.
/// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) is its Taylor polynomial, whose next term is below 6e-9.
inline float exponential(float x) {
  if (!(x > -87.0f)) return x != x ? x : 0.0f;
  if (x > 0.0f) return 1.0f;  // only where a damaged image lets operands overlap
  const int32_t n = static_cast<int32_t>(x * 1.44269504f - 0.5f);
  // ln 2 in two parts (Cody and Waite): n times the first is exact.
  const float r = (x - static_cast<float>(n) * 0.693359375f) + static_cast<float>(n) * 2.12194440e-4f;
  float sum = 1.0f / 5040;
  sum = sum * r + 1.0f / 720;
  sum = sum * r + 1.0f / 120;
  sum = sum * r + 1.0f / 24;
  sum = sum * r + 1.0f / 6;
  sum = sum * r + 0.5f;
  sum = sum * r + 1.0f;
  sum = sum * r + 1.0f;
  const uint32_t power_bits = static_cast<uint32_t>(n + 127) << 23;
  float power;
  __builtin_memcpy(&power, &power_bits, 4);
  return sum * power;
}

}  // namespace rush
#endif
