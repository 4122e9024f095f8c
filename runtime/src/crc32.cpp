// SPDX-License-Identifier: Apache-2.0
//
// Half a byte at a time: a table of 64 bytes instead of 1024, twice the look-ups.
#include "rushlight/crc32.h"

namespace rush {
namespace {

const uint32_t kNibbles[16] = {0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
                               0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
                               0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};

}  // namespace

uint32_t crc32(const void* data, size_t bytes, uint32_t before) {
  const uint8_t* p = static_cast<const uint8_t*>(data);
  uint32_t crc = ~before;
  for (const uint8_t* const end = p + bytes; p != end; ++p) {
    crc ^= *p;
    crc = (crc >> 4) ^ kNibbles[crc & 15u];
    crc = (crc >> 4) ^ kNibbles[crc & 15u];
  }
  return ~crc;
}

}  // namespace rush
