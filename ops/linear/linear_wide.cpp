// SPDX-License-Identifier: Apache-2.0
//
// linear on the host: as conv2d_wide.cpp, a position's features being the window.
#if defined(__x86_64__)
#include <algorithm>

#include "ops/conv2d/conv2d_wide.h"
#include "ops/linear/linear_tiles.h"

namespace rush {

std::vector<uint8_t> linear_wide_weights(const void* params, std::span<const uint8_t> canonical) {
  const auto& p = *static_cast<const LinearParams*>(params);
  return wide_rows(canonical, p.out_features, p.in_features);
}

void linear_s8_wide(const void* params, void* const* operands, Band band) {
  const auto& p = *static_cast<const LinearParams*>(params);
  const WideChannels channels(static_cast<const ChannelBlock*>(operands[3]), p.out_features);
  const uint32_t pairs = wide_pairs(p.in_features);
  static thread_local std::vector<int16_t> window;
  window.assign(size_t{2} * pairs, 0);
  WideTile tile{{window.data(), window.data()}, {}, pairs};
  for (int32_t y = band.begin; y < band.end; ++y) {
    const int8_t* in = static_cast<const int8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y));
    tile.out[0] = static_cast<int8_t*>(operands[1]) + row_offset(p.out, static_cast<uint32_t>(y));
    for (uint32_t x = 0; x < p.positions; ++x, in += p.in_features, tile.out[0] += p.out_features) {
      widen(window.data(), in, p.in_features);
      wide_outputs(tile, static_cast<const int16_t*>(operands[2]), channels, p.out_features, p.codes);
    }
  }
}

void linear_one_scale_s8_wide(const void* params, void* const* operands, Band band) {
  const auto& p = *static_cast<const LinearOneScaleParams*>(params);
  const int32_t* bias = static_cast<const int32_t*>(operands[3]);
  std::vector<ChannelBlock> channels(channel_blocks(p.layer.out_features));
  for (ChannelBlock& block : channels) {
    std::copy_n(bias, 4, block.bias);
    std::fill_n(block.scale, 4, p.scale);
    bias += 4;
  }
  void* const as_others[] = {operands[0], operands[1], operands[2], channels.data()};
  linear_s8_wide(params, as_others, band);
}

}  // namespace rush
#endif
