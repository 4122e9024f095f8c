// SPDX-License-Identifier: Apache-2.0
//
// What test firmware of one model does with it: its command line, its memory, its inputs and outputs in files.
#ifndef RUSH_BOARDS_SESSION_H
#define RUSH_BOARDS_SESSION_H

#include <stdint.h>

#include "rushlight/rushlight.h"

namespace session {

enum : uint32_t { kMaxWords = 5 };

/// The command line, cut at spaces. None at all unless its first word is "rushlight".
struct Arguments {
  uint32_t count;
  const char* words[kMaxWords];

  bool is(uint32_t i, const char* word) const;
};
Arguments arguments();

/// Opens the instance between fresh guard bands and runs its entry "init" if it has one.
rush_status open();
bool guards_intact();

/// Fills all inputs: bytes below 0x40 are small positive numbers in every element type, float32 included.
void write_pattern();

/// The rows of a line-fed input, which waits in free memory, where a camera would be; else null.
const uint8_t* line_fed_rows();

/// All inputs of one inference lie one behind the other in a file, and all outputs.
uint32_t inferences_in(int32_t file);
bool read_inputs(int32_t file);
bool write_outputs(int32_t file);

}  // namespace session
#endif
