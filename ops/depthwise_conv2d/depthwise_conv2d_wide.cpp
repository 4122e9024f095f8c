// SPDX-License-Identifier: Apache-2.0
//
// depthwise_conv2d on the host: sixteen channels at a time, two taps by one VPMADDWD.
#if defined(__x86_64__)
#include <algorithm>
#include <cstring>

#include "ops/conv2d/conv2d_wide.h"
#include "ops/depthwise_conv2d/depthwise_conv2d.h"

namespace rush {
namespace {

uint32_t padded_channels(const DepthwiseConv2dParams& p) {
  return (p.channels + kWideOutputs - 1) / kWideOutputs * kWideOutputs;
}

uint32_t taps(const DepthwiseConv2dParams& p) {
  return static_cast<uint32_t>(p.geometry.kernel_height) * p.geometry.kernel_width;
}

uint32_t tap_pairs(const DepthwiseConv2dParams& p) { return (taps(p) + 1) / 2; }

/// Sixteen channels of one pixel; fewer at a map's end.
RUSH_WIDE inline __m256i load_channels(const int8_t* from, uint32_t count) {
  if (count == kWideOutputs) return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  if (count == 8) return _mm256_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  __m128i some = _mm_setzero_si128();
  std::memcpy(&some, from, count);
  return _mm256_cvtepi8_epi16(some);
}

/// The pixels under a window; where it leaves the map, `outside`.
struct Window {
  const int8_t* in;
  int32_t y;
  int32_t x;
  const int8_t* outside;
};
void find_pixels(const DepthwiseConv2dParams& p, Window at, const int8_t** pixels) {
  const ConvGeometry& g = p.geometry;
  for (int32_t i = 0; i < g.kernel_height; ++i, at.y += g.dilation_height) {
    const bool row_inside = at.y >= 0 && at.y < g.in_height;
    const int8_t* const row = row_inside ? at.in + row_offset(g.in, static_cast<uint32_t>(at.y)) : nullptr;
    for (int32_t j = 0; j < g.kernel_width; ++j) {
      const int32_t column = at.x + j * g.dilation_width;
      *pixels++ = row_inside && column >= 0 && column < g.in_width ? row + column * p.channels : at.outside;
    }
  }
}

struct WideDepthwise {
  const DepthwiseConv2dParams& p;
  const WideChannels& channels;
  const int16_t* weights;  ///< [pairs of taps][padded channels][2], as VPUNPCK leaves sixteen channels
};

/// Sums of sixteen channels over all taps, two by two. `pixels` has an even number of taps.
RUSH_WIDE inline void sum_taps(const WideDepthwise& d, const int8_t* const* pixels, uint32_t c, uint32_t count,
                               __m256i* sums) {
  const uint32_t pairs = tap_pairs(d.p);
  const auto* w = reinterpret_cast<const __m256i*>(d.weights) + c / kWideOutputs * 2 * pairs;
  __m256i low = _mm256_setzero_si256(), high = low;  // channels 0-3 and 8-11; 4-7 and 12-15
  for (uint32_t t = 0; t < pairs; ++t, w += 2) {
    const __m256i a = load_channels(pixels[2 * t] + c, count), b = load_channels(pixels[2 * t + 1] + c, count);
    low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), _mm256_loadu_si256(w)));
    high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), _mm256_loadu_si256(w + 1)));
  }
  sums[0] = _mm256_permute2x128_si256(low, high, 0x20);
  sums[1] = _mm256_permute2x128_si256(low, high, 0x31);
}

/// All channels of one output pixel; they lie `multiplier` bytes apart.
RUSH_WIDE void wide_pixel(const WideDepthwise& d, const int8_t* const* pixels, int8_t* out) {
  for (uint32_t c = 0; c < d.p.channels; c += kWideOutputs) {
    const uint32_t count = std::min<uint32_t>(kWideOutputs, d.p.channels - c);
    __m256i sums[2];
    if (count == kWideOutputs) {
      sum_taps(d, pixels, c, kWideOutputs, sums);
    } else {
      sum_taps(d, pixels, c, count, sums);
    }
    if (d.p.multiplier == 1) {
      store_wide(d.channels, c, count, d.p.codes, sums, out + c);
      continue;
    }
    int8_t codes[kWideOutputs];
    store_wide(d.channels, c, count, d.p.codes, sums, codes);
    for (uint32_t i = 0; i < count; ++i) out[(c + i) * d.p.multiplier] = codes[i];
  }
}

}  // namespace

/// For each multiplier and sixteen channels, each pair of taps: channels 0-3, 8-11, then 4-7, 12-15, both taps of each.
std::vector<uint8_t> depthwise_conv2d_wide_weights(const void* params, std::span<const uint8_t> canonical) {
  const auto& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const size_t plane = size_t{2} * tap_pairs(p) * padded_channels(p);
  std::vector<int16_t> wide(p.multiplier * plane, 0);
  for (size_t c = 0; c < p.channels; ++c) {
    const size_t in_block = c % kWideOutputs;
    const size_t half = in_block / 4 % 2, lane = in_block / 8 * 4 + in_block % 4;
    for (size_t m = 0; m < p.multiplier; ++m) {
      int16_t* const block = wide.data() + m * plane + c / kWideOutputs * 2 * kWideOutputs * tap_pairs(p);
      for (size_t t = 0; t < taps(p); ++t)
        block[(t / 2 * 2 + half) * kWideOutputs + lane * 2 + t % 2] =
            static_cast<int8_t>(canonical[(c * p.multiplier + m) * taps(p) + t]);
    }
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(wide.data());
  return {bytes, bytes + wide.size() * sizeof(int16_t)};
}

void depthwise_conv2d_s8_wide(const void* params, void* const* operands, Band band) {
  const auto& p = *static_cast<const DepthwiseConv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  static thread_local std::vector<const int8_t*> pixels;
  static thread_local std::vector<int8_t> outside;
  outside.assign(padded_channels(p), p.zero_point);
  pixels.assign(size_t{2} * tap_pairs(p), outside.data());  // the last of an odd number of taps has weight 0
  const auto* blocks = static_cast<const ChannelBlock*>(operands[3]);
  // Rows in order, whatever the multiplier: the output may lie over the input's dying rows.
  std::vector<WideChannels> channels;
  for (uint32_t m = 0; m < p.multiplier; ++m)
    channels.emplace_back(blocks + m * channel_blocks(p.channels), p.channels);
  for (int32_t y = band.begin; y < band.end; ++y) {
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    for (int32_t x = 0; x < g.out_width; ++x, out += static_cast<size_t>(p.channels) * p.multiplier) {
      const Window window{static_cast<const int8_t*>(operands[0]), y * g.stride_height - g.pad_top,
                          x * g.stride_width - g.pad_left, outside.data()};
      find_pixels(p, window, pixels.data());
      for (uint32_t m = 0; m < p.multiplier; ++m) {
        const auto* weights =
            static_cast<const int16_t*>(operands[2]) + size_t{m} * 2 * tap_pairs(p) * padded_channels(p);
        wide_pixel({p, channels[m], weights}, pixels.data(), out + m);
      }
    }
  }
}

}  // namespace rush
#endif
