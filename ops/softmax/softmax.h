// SPDX-License-Identifier: Apache-2.0
//
// out = exp(x - max) / sum over one axis, in integers: exponentials are products of two entries of a table, chosen by
// the distance to the maximum; the division is one reciprocal a vector. docs/arithmetic.md has the definition and its
// error.
#ifndef RUSHLIGHT_OPS_SOFTMAX_H
#define RUSHLIGHT_OPS_SOFTMAX_H

#include "rushlight/arithmetic.h"
#include "rushlight/kernel.h"

// Clang would vectorize the strided loops of softmax_vector() for Helium, gather by gather.
#if defined(__clang__)
#define RUSH_SCALAR_LOOP _Pragma("clang loop vectorize(disable) unroll(disable)")
#else
#define RUSH_SCALAR_LOOP
#endif

namespace rush {

/// A row is [outer][count][inner]; every vector runs along `count`.
struct SoftmaxWalk {
  Rows in;
  Rows out;
  uint16_t rows;
  uint16_t reserved;
  uint32_t outer;
  uint32_t count;
  uint32_t inner;
};

/// -exp(-d * input scale) * 2^31, for distances d = 16 i and d = j. Negative, since 2^31 is no int32.
struct SoftmaxTable {
  int32_t coarse[16];
  int32_t fine[16];
};

/// Operands: 0 in, 1 SoftmaxTable, 2 out (may be in). Any alignment; touches nothing past a row's end.
struct SoftmaxParams {
  SoftmaxWalk walk;
  int32_t multiplier;  ///< 1 / output scale = multiplier / 2^(3 + shift); [2^30, 2^31)
  int32_t shift;       ///< [1, 31]
  int32_t zero_point;  ///< of out
  Range range;
};

extern const KernelContract softmax_s8_contract;
Kernel softmax_s8_scalar, softmax_s8_dsp;

/// The same on Helium, for vectors of neighbouring elements: inner is 1.
extern const KernelContract softmax_dense_s8_contract;
Kernel softmax_dense_s8_scalar, softmax_dense_s8_mve;

/// float32; operands 0 in, 1 out (may be in), 4-byte aligned.
struct SoftmaxF32Params {
  SoftmaxWalk walk;
};

extern const KernelContract softmax_f32_contract;
Kernel softmax_f32_scalar;

/// Calls visit(in, out) for each vector of a band.
template <class T, class Visit>
inline void each_vector(const SoftmaxWalk& walk, const void* in, void* out, Band band, Visit visit) {
  for (int32_t y = band.begin; y < band.end; ++y) {
    const T* from = static_cast<const T*>(in) + row_offset(walk.in, static_cast<uint32_t>(y)) / sizeof(T);
    T* to = static_cast<T*>(out) + row_offset(walk.out, static_cast<uint32_t>(y)) / sizeof(T);
    for (uint32_t o = 0; o < walk.outer; ++o) {
      for (uint32_t i = 0; i < walk.inner; ++i) visit(from + i, to + i);
      from += walk.count * walk.inner;
      to += walk.count * walk.inner;
    }
  }
}

/// What one vector's exponentials are multiplied by: code = zero point + requantize(exponential, multiplier, shift).
struct SoftmaxScale {
  int32_t multiplier;
  int32_t shift;
};

/// floor(2^61 / divisor) for a divisor in [2^30, 2^31), at most 2^31 - 1: of 2^30 there are 31 ones. One bit a turn: no
/// division on small cores.
inline int32_t reciprocal_of(uint32_t divisor) {
  uint32_t rest = uint32_t(1) << 30, quotient = 0;
#pragma GCC unroll 1
  for (int32_t i = 0; i < 31; ++i) {
    rest <<= 1;
    quotient <<= 1;
    if (rest < divisor) continue;
    rest -= divisor;
    quotient |= 1;
  }
  return static_cast<int32_t>(quotient);
}

/// From the sum of a vector's exponentials; the greatest of them is 2^30.
inline SoftmaxScale softmax_scale(uint64_t sum, const SoftmaxParams& p) {
  int32_t shift = p.shift;
  uint32_t low = static_cast<uint32_t>(sum), high = static_cast<uint32_t>(sum >> 32);
  while (high != 0 || low > 0x7fffffffu) {
    low = (low >> 1) | (high << 31);
    high >>= 1;
    ++shift;
  }
  return {multiply_high(reciprocal_of(low), p.multiplier), shift > 31 ? 31 : shift};
}

inline int8_t softmax_code(int32_t exponential, const SoftmaxScale& scale, const SoftmaxParams& p) {
  const int32_t code = requantize(exponential, scale.multiplier, scale.shift) + p.zero_point;
  return static_cast<int8_t>(clamp_to(code, p.range.min, p.range.max));
}

/// exp(-distance * input scale) * 2^30, rounded down. A damaged image may have another maximum than that of its codes.
inline int32_t softmax_exponential(const SoftmaxTable& table, int32_t distance) {
  const uint32_t d = static_cast<uint32_t>(distance);
  return multiply_high(table.coarse[d >> 4 & 15u], table.fine[d & 15u]);
}

/// One vector, its elements walk.inner apart.
inline void softmax_vector(const SoftmaxParams& p, const SoftmaxTable& table, const int8_t* in, int8_t* out) {
  const uint32_t count = p.walk.count, step = p.walk.inner;
  int32_t max = -128;
  RUSH_SCALAR_LOOP for (uint32_t i = 0; i < count; ++i) {
    const int32_t x = in[i * step];
    if (x > max) max = x;
  }
  uint64_t sum = 0;
  RUSH_SCALAR_LOOP for (uint32_t i = 0; i < count; ++i) {
    sum += static_cast<uint32_t>(softmax_exponential(table, max - in[i * step]));
  }
  const SoftmaxScale scale = softmax_scale(sum, p);
  RUSH_SCALAR_LOOP for (uint32_t i = 0; i < count; ++i) {
    out[i * step] = softmax_code(softmax_exponential(table, max - in[i * step]), scale, p);
  }
}

}  // namespace rush
#endif
