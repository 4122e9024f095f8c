// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include "checks.h"
#include "semihosting.h"

extern uint8_t __free_start[];

namespace session {
namespace {

char line[160];

uint8_t* input_at(const Instance& instance, uint32_t i) {
  const rush_io* const info = rush_input_info(instance.context, 0, i);
  if (info != nullptr && (info->flags & RUSH_IO_LINE_FED) != 0) return __free_start;
  return static_cast<uint8_t*>(rush_input(instance.context, 0, i));
}

uint32_t input_bytes() {
  uint32_t bytes = 0;
  for (const Instance& instance : Instances{}) {
    for (uint32_t i = 0; const rush_io* const info = rush_input_info(instance.context, 0, i); ++i) bytes += info->bytes;
  }
  return bytes;
}

}  // namespace

bool Arguments::is(uint32_t i, const char* word) const {
  if (i >= count) return false;
  const char* given = words[i];
  while (*word != 0 && *given == *word) ++given, ++word;
  return *given == 0 && *word == 0;
}

Arguments arguments() {
  Arguments cut = {0, {}};
  if (!semihosting::command_line(line, sizeof line)) return cut;
  cut.words[cut.count++] = line;
  for (char* p = line; *p != 0 && cut.count < kMaxWords; ++p) {
    if (*p != ' ') continue;
    *p = 0;
    cut.words[cut.count++] = p + 1;
  }
  if (!cut.is(0, "rushlight")) cut.count = 0;
  return cut;
}

namespace {

rush_status open_one(const Instance& instance) {
  for (uint32_t i = 0; i < instance.guard_count; ++i) checks::fill_guard(instance.guards[i], kGuardBytes);
  const rush_status status =
      rush_open(instance.context, instance.context_bytes, instance.model, instance.memories, instance.memory_count);
  if (status != RUSH_OK || instance.init_entry < 0) return status;
  return rush_run(instance.context, static_cast<uint32_t>(instance.init_entry));
}

}  // namespace

rush_status open() {
  for (const Instance& instance : Instances{}) {
    const rush_status status = open_one(instance);
    if (status != RUSH_OK) return status;
  }
  return RUSH_OK;
}

bool guards_intact() {
  for (const Instance& instance : Instances{}) {
    for (uint32_t i = 0; i < instance.guard_count; ++i) {
      if (!checks::guard_intact(instance.guards[i], kGuardBytes)) return false;
    }
  }
  return true;
}

void write_pattern(const Instance& instance) {
  for (uint32_t i = 0; uint8_t* const input = input_at(instance, i); ++i) {
    const uint32_t bytes = rush_input_info(instance.context, 0, i)->bytes;
    for (uint32_t j = 0; j < bytes; ++j) input[j] = static_cast<uint8_t>((j * 7 + i) & 0x3F);
  }
}

const uint8_t* line_fed_rows(const Instance& instance) {
  return input_at(instance, 0) == __free_start ? __free_start : nullptr;
}

// Counts by subtraction: the smallest cores have no division, and the product's size should not gain a library's.
uint32_t inferences_in(int32_t file) {
  const int32_t length = semihosting::length(file);
  const uint32_t each = input_bytes();
  uint32_t count = 0;
  if (length <= 0 || each == 0) return 0;
  for (uint32_t left = static_cast<uint32_t>(length); left >= each; left -= each) ++count;
  return count;
}

bool read_inputs(const Instance& instance, int32_t file) {
  for (uint32_t i = 0; uint8_t* const input = input_at(instance, i); ++i) {
    if (!semihosting::read(file, input, rush_input_info(instance.context, 0, i)->bytes)) return false;
  }
  return true;
}

bool write_outputs(const Instance& instance, int32_t file) {
  for (uint32_t i = 0; const void* const output = rush_output(instance.context, 0, i); ++i) {
    if (!semihosting::write(file, output, rush_output_info(instance.context, 0, i)->bytes)) return false;
  }
  return true;
}

}  // namespace session
