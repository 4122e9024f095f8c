// SPDX-License-Identifier: Apache-2.0
//
// Test firmware for one model. Alone it does one inference on a fixed pattern; with the command line "rushlight steps"
// it brackets every step of that inference. Started by `rushlight run --on`, with the command line "rushlight INPUT
// OUTPUT REPORT", it runs every inference in the file INPUT (all inputs of one inference, one behind the other) and
// writes the outputs in the same way, then what it observed.
#include "checks.h"
#include "instance.h"
#include "semihosting.h"

extern uint8_t __free_start[];

namespace {

using checks::Measured;
using semihosting::Mode;

struct Observed {
  rush_status status;
  uint32_t inferences;
  uint32_t stack_bytes;
  bool io_failed;
};

const Instance& instance = rush_instance;

// The command line, cut into its four words.
char line[160];
struct Arguments {
  bool files;
  bool steps;
  const char* input;
  const char* output;
  const char* report;
};

bool is_word(const char* word, const char* expected) {
  uint32_t i = 0;
  while (expected[i] != 0 && word[i] == expected[i]) ++i;
  return expected[i] == 0 && word[i] == 0;
}

Arguments parse_arguments() {
  if (!semihosting::command_line(line, sizeof line)) return {false, false, nullptr, nullptr, nullptr};
  const char* words[4] = {line, nullptr, nullptr, nullptr};
  uint32_t count = 1;
  for (char* p = line; *p != 0 && count < 4; ++p) {
    if (*p != ' ') continue;
    *p = 0;
    words[count++] = p + 1;
  }
  const bool ours = is_word(words[0], "rushlight");
  return {ours && count == 4, ours && count == 2 && is_word(words[1], "steps"), words[1], words[2], words[3]};
}

void fill_guards() {
  for (uint32_t i = 0; i < instance.guard_count; ++i) checks::fill_guard(instance.guards[i], kGuardBytes);
}

bool guards_intact() {
  for (uint32_t i = 0; i < instance.guard_count; ++i) {
    if (!checks::guard_intact(instance.guards[i], kGuardBytes)) return false;
  }
  return true;
}

void open_instance(Observed* observed) {
  fill_guards();
  observed->status =
      rush_open(instance.context, instance.context_bytes, instance.model, instance.memories, instance.memory_count);
  if (observed->status == RUSH_OK && instance.init_entry >= 0) {
    observed->status = rush_run(instance.context, static_cast<uint32_t>(instance.init_entry));
  }
}

/// Where input i is written. A line-fed one waits in free memory, where a camera would be.
uint8_t* input_at(uint32_t i) {
  const rush_io* const info = rush_input_info(instance.context, 0, i);
  if (info != nullptr && (info->flags & RUSH_IO_LINE_FED) != 0) return __free_start;
  return static_cast<uint8_t*>(rush_input(instance.context, 0, i));
}

void infer(Observed* observed, checks::Drive drive) {
  const uint8_t* const rows = input_at(0) == __free_start ? __free_start : nullptr;
  const Measured measured = checks::run(instance.context, 0, drive, rows);
  observed->status = measured.status;
  if (measured.stack_bytes > observed->stack_bytes) observed->stack_bytes = measured.stack_bytes;
  ++observed->inferences;
}

// Bytes below 0x40 are small positive numbers in every element type, float32 included.
void write_pattern() {
  for (uint32_t i = 0; uint8_t* const input = input_at(i); ++i) {
    const uint32_t bytes = rush_input_info(instance.context, 0, i)->bytes;
    for (uint32_t j = 0; j < bytes; ++j) input[j] = static_cast<uint8_t>((j * 7 + i) & 0x3F);
  }
}

bool read_inputs(int32_t file) {
  for (uint32_t i = 0; uint8_t* const input = input_at(i); ++i) {
    if (!semihosting::read(file, input, rush_input_info(instance.context, 0, i)->bytes)) return false;
  }
  return true;
}

bool write_outputs(int32_t file) {
  for (uint32_t i = 0; const void* const output = rush_output(instance.context, 0, i); ++i) {
    if (!semihosting::write(file, output, rush_output_info(instance.context, 0, i)->bytes)) return false;
  }
  return true;
}

uint32_t input_bytes() {
  uint32_t bytes = 0;
  for (uint32_t i = 0; const rush_io* const info = rush_input_info(instance.context, 0, i); ++i) bytes += info->bytes;
  return bytes;
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

void run_file(const Arguments& arguments, Observed* observed) {
  const int32_t input = semihosting::open(arguments.input, Mode::kRead);
  const int32_t output = semihosting::open(arguments.output, Mode::kWrite);
  if (input < 0 || output < 0) {
    observed->io_failed = true;
    return;
  }
  for (uint32_t left = inferences_in(input); left > 0 && observed->status == RUSH_OK; --left) {
    observed->io_failed |= !read_inputs(input);
    infer(observed, checks::Drive::kRun);
    observed->io_failed |= !write_outputs(output);
  }
  semihosting::close(input);
  semihosting::close(output);
}

void write_report(const char* path, const Observed& observed, bool intact) {
  const uint32_t words[] = {static_cast<uint32_t>(observed.status), observed.inferences, observed.stack_bytes,
                            intact ? 1u : 0u, observed.io_failed ? 1u : 0u};
  const int32_t file = semihosting::open(path, Mode::kWrite);
  if (file < 0) return;
  semihosting::write(file, words, sizeof words);
  semihosting::close(file);
}

}  // namespace

extern "C" void rush_exit(int code) { semihosting::exit(code); }

extern "C" int firmware_main(void) {
  Observed observed = {RUSH_OK, 0, 0, false};
  const Arguments arguments = parse_arguments();
  open_instance(&observed);
  if (observed.status == RUSH_OK && arguments.files) run_file(arguments, &observed);
  if (observed.status == RUSH_OK && !arguments.files) {
    write_pattern();
    infer(&observed, arguments.steps ? checks::Drive::kEachStep : checks::Drive::kRun);
  }
  const bool intact = guards_intact();
  if (arguments.files) write_report(arguments.report, observed, intact);
  return observed.status == RUSH_OK && intact && !observed.io_failed ? 0 : 1;
}
