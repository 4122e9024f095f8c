// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the host's program stage, for x86-64 with AVX2: data sets should not run at the speed of code that was
// written for a Cortex-M0. Same arithmetic, same parameters and operands, but for the weights, which are widened to
// int16 and ordered for VPMADDWD when an image is opened (wide_kernels.h).
#pragma once

#if defined(__x86_64__)
#define RUSH_WIDE __attribute__((target("avx2")))

#include <immintrin.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ops/conv2d/conv2d_channels.h"

namespace rush {

enum : uint32_t { kWideOutputs = 16, kWidePixels = 4 };

/// Weights of `outputs` rows of `inputs` codes: blocks of sixteen outputs, in each the inputs in pairs, of each pair
/// the outputs' two weights; zeros where there is no output or input.
std::vector<uint8_t> wide_rows(std::span<const uint8_t> canonical, size_t outputs, size_t inputs);

/// int16 elements of a window of `inputs` codes: whole pairs.
inline uint32_t wide_pairs(uint32_t inputs) { return (inputs + 1) / 2; }

/// Constants of all output channels, in vectors of sixteen.
struct WideChannels {
  std::vector<int32_t> bias, multiplier, shift, half;
  WideChannels(const ChannelBlock* blocks, uint32_t channels);
};

/// Sixteen codes from sums without their biases.
RUSH_WIDE inline __m128i wide_codes(const WideChannels& c, uint32_t first, const OutputCodes& codes,
                                    const __m256i* sums) {
  __m256i half_way[2];
  for (uint32_t i = 0; i < 2; ++i) {
    const auto load = [&](const std::vector<int32_t>& v) RUSH_WIDE {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(v.data() + first + 8 * i));
    };
    const __m256i acc = _mm256_add_epi32(sums[i], load(c.bias)), multiplier = load(c.multiplier);
    const __m256i even = _mm256_srli_epi64(_mm256_mul_epi32(acc, multiplier), 32);
    const __m256i odd = _mm256_mul_epi32(_mm256_srli_epi64(acc, 32), _mm256_srli_epi64(multiplier, 32));
    const __m256i high = _mm256_add_epi32(_mm256_blend_epi32(even, odd, 0xaa), load(c.half));
    const __m256i code = _mm256_add_epi32(_mm256_srav_epi32(high, load(c.shift)), _mm256_set1_epi32(codes.zero_point));
    half_way[i] = _mm256_min_epi32(_mm256_max_epi32(code, _mm256_set1_epi32(codes.min)), _mm256_set1_epi32(codes.max));
  }
  const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(half_way[0], half_way[1]), 0xd8);
  return _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
}

/// Stores the codes of up to sixteen outputs. Accumulators that are shifted left first are rare: one by one.
RUSH_WIDE inline void store_wide(const WideChannels& channels, uint32_t first, uint32_t count, const OutputCodes& codes,
                                 const __m256i* sums, int8_t* out) {
  if (codes.left_shift != 0) {
    int32_t sum[kWideOutputs];
    std::memcpy(sum, sums, sizeof sum);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t acc = static_cast<uint32_t>(sum[i]) + static_cast<uint32_t>(channels.bias[first + i]);
      const int32_t code =
          requantize_any(static_cast<int32_t>(acc), channels.multiplier[first + i], channels.shift[first + i]);
      out[i] = static_cast<int8_t>(clamp_to(code + codes.zero_point, codes.min, codes.max));
    }
    return;
  }
  const __m128i sixteen = wide_codes(channels, first, codes, sums);
  if (count == kWideOutputs) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), sixteen);
  } else {
    std::memcpy(out, &sixteen, count);
  }
}

/// Windows of one tile, widened, and where the codes of each go.
struct WideTile {
  const int16_t* window[kWidePixels];
  int8_t* out[kWidePixels];
  uint32_t pairs;
};

/// All outputs of a tile's windows.
void wide_outputs(const WideTile& tile, const int16_t* weights, const WideChannels& channels, uint32_t outputs,
                  const OutputCodes& codes);

/// Widens codes to int16; a pair's missing half is 0.
RUSH_WIDE inline void widen(int16_t* to, const int8_t* from, uint32_t count) {
  uint32_t i = 0;
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  for (; i < count; ++i) to[i] = from[i];
}

}  // namespace rush
#endif
