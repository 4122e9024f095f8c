// SPDX-License-Identifier: Apache-2.0
//
// The table of every kernel of one class of cores, in the order of ops.def: for firmware that runs images of any
// model, such as the tests' player. Its parts are declared by ops.def rather than included, so that ops.def alone
// says which there are. full_table_<isa>.cpp defines it for each class of cores.
#ifndef RUSHLIGHT_OPS_FULL_TABLE_H
#define RUSHLIGHT_OPS_FULL_TABLE_H

#include <stddef.h>

#include "rushlight/image.h"
#include "rushlight/kernel.h"

namespace rush {

// CRC-32 of the class and the kernel ids, as compiler/emit computes it; recursive for C++11's constexpr.
constexpr uint32_t crc_bits(uint32_t crc, int bits) {
  return bits == 0 ? crc : crc_bits((crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u))), bits - 1);
}
constexpr uint32_t crc_half_word(uint32_t crc, uint16_t value) { return crc_bits(crc ^ value, 16); }
constexpr uint32_t crc_ids(uint32_t crc, const uint16_t* ids, size_t count) {
  return count == 0 ? crc : crc_ids(crc_half_word(crc, ids[0]), ids + 1, count - 1);
}

constexpr uint16_t kAllKernelIds[] = {
#define RUSH_KERNEL(id, family, op, scalar, dsp, mve) id,
#include "ops.def"
};
constexpr uint16_t kAllKernelCount = sizeof kAllKernelIds / sizeof kAllKernelIds[0];

constexpr uint32_t full_table_id(Isa isa) {
  return ~crc_ids(crc_half_word(0xffffffffu, static_cast<uint16_t>(isa)), kAllKernelIds, kAllKernelCount);
}

}  // namespace rush

extern "C" {
extern const rush_kernel_table rush_full_table;
}

#endif
