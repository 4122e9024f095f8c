// SPDX-License-Identifier: Apache-2.0
//
// CRC-32 as in zip and Ethernet: reflected polynomial 0xEDB88320, initial value and final xor all ones.
#ifndef RUSHLIGHT_CRC32_H
#define RUSHLIGHT_CRC32_H

#include <stddef.h>
#include <stdint.h>

namespace rush {

/// The CRC of some bytes; `before` is the CRC of the bytes in front of them, 0 if there are none.
uint32_t crc32(const void* data, size_t bytes, uint32_t before = 0);

}  // namespace rush
#endif
