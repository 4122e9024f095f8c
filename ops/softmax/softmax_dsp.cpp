// SPDX-License-Identifier: Apache-2.0
//
// The maximum comes from four codes a word (SSUB8 and SEL); the rest is table look-ups and SMMUL.
#include <arm_acle.h>

#include "softmax.h"

namespace rush {
namespace {

inline int8x4_t greater4(int8x4_t a, int8x4_t b) {
  (void)__ssub8(a, b);
  return static_cast<int8x4_t>(__sel(static_cast<uint8x4_t>(a), static_cast<uint8x4_t>(b)));
}

inline int32_t greater(int32_t a, int32_t b) { return a > b ? a : b; }

int32_t max_of(const int8_t* in, uint32_t count) {
  int8x4_t best = static_cast<int8x4_t>(0x80808080u);
  uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    int8x4_t four;
    __builtin_memcpy(&four, in + i, 4);
    best = greater4(four, best);
  }
  const uint32_t lanes = static_cast<uint32_t>(best);
  int32_t max = greater(greater(static_cast<int8_t>(lanes), static_cast<int8_t>(lanes >> 8)),
                        greater(static_cast<int8_t>(lanes >> 16), static_cast<int8_t>(lanes >> 24)));
  for (; i < count; ++i) max = greater(max, in[i]);
  return max;
}

void softmax_run(const SoftmaxParams& p, const int32_t* table, const int8_t* in, int8_t* out) {
  const uint32_t count = p.walk.count;
  const int32_t max = max_of(in, count);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += static_cast<uint32_t>(exponential_of(table, max, in[i]));
  const SoftmaxScale scale = softmax_scale(sum, p);
  for (uint32_t i = 0; i < count; ++i) out[i] = softmax_code(exponential_of(table, max, in[i]), scale, p);
}

}  // namespace

void softmax_s8_dsp(const void* params, void* const* operands, Band band) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  const int32_t* const table = static_cast<const int32_t*>(operands[1]);
  each_vector<int8_t>(p.walk, operands[0], operands[2], band, [&](const int8_t* in, int8_t* out) {
    if (p.walk.inner == 1) {
      softmax_run(p, table, in, out);
    } else {
      softmax_vector(p, table, in, out);
    }
  });
}

}  // namespace rush
