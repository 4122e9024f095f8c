// SPDX-License-Identifier: Apache-2.0
//
// Table look-ups and SMMUL. Each loop is a function of its own, which has all registers for what it needs.
#include "softmax.h"

namespace rush {
namespace {

/// A vector of elements `step` apart.
struct SoftmaxVector {
  const SoftmaxTable* table;
  const int8_t* begin;
  const int8_t* end;
  uint32_t step;
};

__attribute__((noinline)) int32_t max_of(const SoftmaxVector& v) {
  const uint32_t step = v.step;
  int32_t max = -128;
  const int8_t *x = v.begin, *const end = v.end;
#pragma GCC unroll 1
  do {
    if (*x > max) max = *x;
    x += step;
  } while (x != end);
  return max;
}

__attribute__((noinline)) uint64_t sum_of(const SoftmaxVector& v, int32_t max) {
  const SoftmaxTable& table = *v.table;
  const uint32_t step = v.step;
  uint64_t sum = 0;
  const int8_t *x = v.begin, *const end = v.end;
#pragma GCC unroll 1
  do {
    sum += static_cast<uint32_t>(softmax_exponential(table, max - *x));
    x += step;
  } while (x != end);
  return sum;
}

__attribute__((noinline)) void store_codes(const SoftmaxVector& v, int32_t max, const SoftmaxScale& scale,
                                           const SoftmaxParams& p, int8_t* out) {
  const SoftmaxTable& table = *v.table;
  const uint32_t step = v.step;
  const int32_t multiplier = scale.multiplier, shift = scale.shift;
  const int32_t zero_point = p.zero_point, low = p.range.min, high = p.range.max;
  const int8_t *x = v.begin, *const end = v.end;
#pragma GCC unroll 1
  do {
    const int32_t code = requantize(softmax_exponential(table, max - *x), multiplier, shift) + zero_point;
    *out = static_cast<int8_t>(clamp_to(code, low, high));
    x += step;
    out += step;
  } while (x != end);
}

}  // namespace

void softmax_s8_dsp(const void* params, void* const* operands, Band band) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  const SoftmaxTable* const table = static_cast<const SoftmaxTable*>(operands[1]);
  each_vector<int8_t>(p.walk, operands[0], operands[2], band, [&](const int8_t* in, int8_t* out) {
    const SoftmaxVector v = {table, in, in + p.walk.count * p.walk.inner, p.walk.inner};
    const int32_t max = max_of(v);
    store_codes(v, max, softmax_scale(sum_of(v, max), p), p, out);
  });
}

}  // namespace rush
