// SPDX-License-Identifier: Apache-2.0
//
// conv2d on the host: four windows are gathered and widened, then four by sixteen sums stay in registers over the whole
// window: a pair of inputs costs two loads of weights, four broadcasts and eight VPMADDWD, 128 products.
#include "ops/conv2d/conv2d_wide.h"

#if defined(__x86_64__)
#include <algorithm>
#include <cstring>

#include "ops/conv2d/conv2d.h"

namespace rush {

std::vector<uint8_t> wide_rows(std::span<const uint8_t> canonical, size_t outputs, size_t inputs) {
  const size_t pairs = (inputs + 1) / 2, blocks = (outputs + kWideOutputs - 1) / kWideOutputs;
  std::vector<int16_t> wide(blocks * pairs * 2 * kWideOutputs, 0);
  for (size_t o = 0; o < outputs; ++o) {
    const size_t column = o / kWideOutputs * pairs * 2 * kWideOutputs + o % kWideOutputs * 2;
    for (size_t i = 0; i < inputs; ++i)
      wide[column + i / 2 * 2 * kWideOutputs + i % 2] = static_cast<int8_t>(canonical[o * inputs + i]);
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(wide.data());
  return {bytes, bytes + wide.size() * sizeof(int16_t)};
}

WideChannels::WideChannels(const ChannelBlock* blocks, uint32_t channels) {
  const uint32_t rounded = (channels + kWideOutputs - 1) / kWideOutputs * kWideOutputs;
  for (std::vector<int32_t>* v : {&bias, &multiplier, &shift, &half}) v->assign(rounded, 0);
  for (uint32_t i = 0; i < channels; ++i) {
    const ChannelBlock& block = blocks[i / 4];
    bias[i] = block.bias[i % 4];
    multiplier[i] = block.scale[i % 4];
    shift[i] = shift_of(block.scale[i % 4]);
    half[i] = static_cast<int32_t>((uint32_t{1} << (static_cast<uint32_t>(shift[i]) & 31u)) >> 1);
  }
}

namespace {

/// Sixteen outputs of the first `kPixels` windows.
template <uint32_t kPixels>
RUSH_WIDE inline void wide_sums(const WideTile& tile, const int16_t* weights, __m256i (*sums)[2]) {
  for (uint32_t p = 0; p < kPixels; ++p) sums[p][0] = sums[p][1] = _mm256_setzero_si256();
  for (uint32_t i = 0; i < tile.pairs; ++i, weights += 2 * kWideOutputs) {
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + kWideOutputs));
    for (uint32_t p = 0; p < kPixels; ++p) {
      int32_t pair;
      std::memcpy(&pair, tile.window[p] + 2 * i, sizeof pair);
      const __m256i x = _mm256_set1_epi32(pair);
      sums[p][0] = _mm256_add_epi32(sums[p][0], _mm256_madd_epi16(x, low));
      sums[p][1] = _mm256_add_epi32(sums[p][1], _mm256_madd_epi16(x, high));
    }
  }
}

}  // namespace

RUSH_WIDE void wide_outputs(const WideTile& tile, const int16_t* weights, const WideChannels& channels,
                            uint32_t outputs, const OutputCodes& codes) {
  const bool single = tile.window[1] == tile.window[0];
  for (uint32_t o = 0; o < outputs; o += kWideOutputs, weights += tile.pairs * 2 * kWideOutputs) {
    const uint32_t count = std::min<uint32_t>(kWideOutputs, outputs - o);
    __m256i sums[kWidePixels][2];
    if (single) {
      wide_sums<1>(tile, weights, sums);
      store_wide(channels, o, count, codes, sums[0], tile.out[0] + o);
      continue;
    }
    wide_sums<kWidePixels>(tile, weights, sums);
    for (uint32_t p = 0; p < kWidePixels; ++p) store_wide(channels, o, count, codes, sums[p], tile.out[p] + o);
  }
}

namespace {

struct Origin2d {
  int32_t y;
  int32_t x;
};

/// One window, widened; taps outside the map are the zero point.
RUSH_WIDE void gather_wide(const Conv2dParams& p, const int8_t* in, Origin2d at, int16_t* to) {
  const ConvGeometry& g = p.geometry;
  const bool contiguous = g.dilation_width == 1 && p.in_pixel == p.in_channels;
  const int32_t channels = p.in_channels;
  for (int32_t i = 0; i < g.kernel_height; ++i, at.y += g.dilation_height) {
    if (at.y < 0 || at.y >= g.in_height) {
      to = std::fill_n(to, g.kernel_width * channels, p.zero_point);
      continue;
    }
    const int8_t* const row = in + row_offset(g.in, static_cast<uint32_t>(at.y));
    int32_t x = at.x;
    for (int32_t left = g.kernel_width; left > 0;) {
      const bool inside = x >= 0 && x < g.in_width;
      const int32_t taps = inside && contiguous ? std::min<int32_t>(left, g.in_width - x) : 1;
      if (inside)
        widen(to, row + x * p.in_pixel, static_cast<uint32_t>(taps * channels));
      else
        std::fill_n(to, channels, p.zero_point);
      to += taps * channels;
      x += taps * g.dilation_width;
      left -= taps;
    }
  }
}

}  // namespace

std::vector<uint8_t> conv2d_wide_weights(const void* params, std::span<const uint8_t> canonical) {
  const auto& p = *static_cast<const Conv2dParams*>(params);
  const size_t window = size_t{p.geometry.kernel_height} * p.geometry.kernel_width * p.in_channels;
  return wide_rows(canonical, p.out_channels, window);
}

void conv2d_s8_wide(const void* params, void* const* operands, Band band) {
  const auto& p = *static_cast<const Conv2dParams*>(params);
  const ConvGeometry& g = p.geometry;
  const WideChannels channels(static_cast<const ChannelBlock*>(operands[3]), p.out_channels);
  const auto window = static_cast<uint32_t>(g.kernel_height) * g.kernel_width * p.in_channels;
  const uint32_t pairs = wide_pairs(window);
  static thread_local std::vector<int16_t> windows;
  windows.assign(size_t{2} * pairs * kWidePixels, 0);
  WideTile tile{{}, {}, pairs};
  uint32_t filled = 0;
  const auto flush = [&] {
    if (filled == 0) return;
    for (; filled > 1 && filled < kWidePixels; ++filled) {
      tile.window[filled] = tile.window[0];
      tile.out[filled] = tile.out[0];
    }
    if (filled == 1) tile.window[1] = tile.window[0];
    wide_outputs(tile, static_cast<const int16_t*>(operands[2]), channels, p.out_channels, p.codes);
    filled = 0;
  };
  for (int32_t y = band.begin; y < band.end; ++y) {
    int8_t* out = static_cast<int8_t*>(operands[1]) + row_offset(g.out, static_cast<uint32_t>(y));
    for (int32_t x = 0; x < g.out_width; ++x, out += p.out_pixel) {
      int16_t* const to = windows.data() + size_t{2} * pairs * filled;
      gather_wide(p, static_cast<const int8_t*>(operands[0]),
                  {y * g.stride_height - g.pad_top, x * g.stride_width - g.pad_left}, to);
      tile.window[filled] = to;
      tile.out[filled++] = out;
      if (filled == kWidePixels) flush();
    }
  }
  flush();
}

}  // namespace rush
#endif
