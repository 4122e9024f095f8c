// SPDX-License-Identifier: Apache-2.0
//
// Four codes a word: one load and one store for four look-ups.
#include "rescale.h"

namespace rush {
namespace {

inline uint32_t look_up4(const uint8_t* table, uint32_t four) {
  const uint32_t low = table[four & 0xffu] | static_cast<uint32_t>(table[(four >> 8) & 0xffu]) << 8;
  return low | static_cast<uint32_t>(table[(four >> 16) & 0xffu]) << 16 |
         static_cast<uint32_t>(table[four >> 24]) << 24;
}

void rescale_row(const uint8_t* table, const uint8_t* in, uint8_t* out, uint32_t count) {
  uint32_t i = 0;
  for (; i + 4 <= count; i += 4) {
    uint32_t four;
    __builtin_memcpy(&four, in + i, 4);
    four = look_up4(table, four);
    __builtin_memcpy(out + i, &four, 4);
  }
  for (; i < count; ++i) out[i] = table[in[i]];
}

}  // namespace

void rescale_s8_dsp(const void* params, void* const* operands, Band band) {
  const RescaleParams& p = *static_cast<const RescaleParams*>(params);
  for (int32_t y = band.begin; y < band.end; ++y) {
    rescale_row(static_cast<const uint8_t*>(operands[1]),
                static_cast<const uint8_t*>(operands[0]) + row_offset(p.in, static_cast<uint32_t>(y)),
                static_cast<uint8_t*>(operands[2]) + row_offset(p.out, static_cast<uint32_t>(y)), p.row_elements);
  }
}

}  // namespace rush
