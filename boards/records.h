// SPDX-License-Identifier: Apache-2.0
//
// The records that the player firmware runs: an image, its input and the output it must have, one behind the other
// in a blob that the emulator loads at a fixed address. Shared by the host, which writes them, and the firmware.
#ifndef RUSH_BOARDS_RECORDS_H
#define RUSH_BOARDS_RECORDS_H

#include <stdint.h>

namespace rush {

enum : uint32_t { kRecordMagic = 0x43455252u, kRecordsEnd = 0x444E4552u };  // "RREC", "REND"

enum RecordFlags : uint32_t {
  kSameInstance = 1,  ///< no image: goes on with the instance of the record before
  kBandByBand = 2,    ///< driven by rush_begin and rush_step instead of rush_run
  kInPieces = 4       ///< by rush_run_some
};

/// Followed by the image, the input and the expected output, each padded to 16 bytes.
struct RecordHeader {
  uint32_t magic;
  uint32_t flags;
  uint32_t image_bytes;
  uint32_t input_bytes;   ///< all inputs of the entry, one behind the other
  uint32_t output_bytes;  ///< likewise
  uint32_t entry;
  uint32_t chain_steps;      ///< that the context is made for
  uint32_t expected_status;  ///< of rush_open; anything but RUSH_OK ends the record there
  uint32_t region_count;
  uint32_t region_bytes[7];
};
static_assert(sizeof(RecordHeader) == 64, "layout");

/// What the player reports of each record, in order.
struct RecordOutcome {
  uint32_t index;
  uint32_t status;  ///< rush_status of rush_open, else of the run
  uint32_t differing_bytes;
  uint32_t first_difference;  ///< byte index, or 0xffffffff
  uint32_t guards_intact;
  uint32_t stack_bytes;
};

/// Statuses of a record beyond those of rush_status.
enum : uint32_t { kDoesNotFit = 0x100, kBadRecord = 0x101 };

inline uint32_t padded(uint32_t bytes) { return (bytes + 15u) & ~15u; }

}  // namespace rush
#endif
