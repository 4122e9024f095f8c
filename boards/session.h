// SPDX-License-Identifier: Apache-2.0
//
// What test firmware does with its model, or with several that were linked together: its command line, their memory,
// their inputs and outputs in files.
#ifndef RUSH_BOARDS_SESSION_H
#define RUSH_BOARDS_SESSION_H

#include <stdint.h>

#include "instance.h"

namespace session {

enum : uint32_t { kMaxWords = 5 };

/// The command line, cut at spaces. None at all unless its first word is "rushlight".
struct Arguments {
  uint32_t count;
  const char* words[kMaxWords];

  bool is(uint32_t i, const char* word) const;
};
Arguments arguments();

/// All models, for loops over ranges.
struct Instances {
  const Instance* begin() const { return rush_instances; }
  const Instance* end() const { return rush_instances + rush_instance_count; }
};

/// Opens every instance between fresh guard bands and runs its entry "init" if it has one.
rush_status open();
bool guards_intact();

/// Fills all inputs: bytes below 0x40 are small positive numbers in every element type, float32 included.
void write_pattern(const Instance& instance);

/// The rows of a line-fed input, which waits in free memory, where a camera would be; else null.
const uint8_t* line_fed_rows(const Instance& instance);

/// All inputs of one inference lie one behind the other in a file, model after model, and all outputs.
uint32_t inferences_in(int32_t file);
bool read_inputs(const Instance& instance, int32_t file);
bool write_outputs(const Instance& instance, int32_t file);

}  // namespace session
#endif
