// SPDX-License-Identifier: Apache-2.0
//
// Test firmware for a model, or for several that take turns. Alone it does one inference on a fixed pattern; with the
// command line "rushlight steps" it brackets every step of that inference. Started by `rushlight run --on`, with the
// command line "rushlight INPUT OUTPUT REPORT", it runs every inference in the file INPUT (all inputs of one inference,
// one behind the other, model after model) and writes the outputs in the same way, then what it observed.
#include "checks.h"
#include "semihosting.h"
#include "session.h"

namespace {

using checks::Measured;
using semihosting::Mode;

struct Observed {
  rush_status status;
  uint32_t inferences;
  uint32_t stack_bytes;
  bool io_failed;
};

void infer(const Instance& instance, checks::Drive* drive, Observed* observed) {
  const Measured measured = checks::run(instance.context, 0, drive, session::line_fed_rows(instance));
  observed->status = measured.status;
  if (measured.stack_bytes > observed->stack_bytes) observed->stack_bytes = measured.stack_bytes;
}

/// One inference of every model, in turn: what one leaves in the arena is gone when the next has run.
void infer_all(int32_t input, int32_t output, Observed* observed) {
  for (const Instance& instance : session::Instances{}) {
    if (observed->status != RUSH_OK) return;
    observed->io_failed |= !session::read_inputs(instance, input);
    infer(instance, instance.drive, observed);
    observed->io_failed |= !session::write_outputs(instance, output);
  }
  ++observed->inferences;
}

void run_file(const session::Arguments& arguments, Observed* observed) {
  const int32_t input = semihosting::open(arguments.words[1], Mode::kRead);
  const int32_t output = semihosting::open(arguments.words[2], Mode::kWrite);
  if (input < 0 || output < 0) {
    observed->io_failed = true;
    return;
  }
  for (uint32_t left = session::inferences_in(input); left > 0 && observed->status == RUSH_OK; --left)
    infer_all(input, output, observed);
  semihosting::close(input);
  semihosting::close(output);
}

void infer_pattern(bool each_band, Observed* observed) {
  for (const Instance& instance : session::Instances{}) {
    if (observed->status != RUSH_OK) return;
    session::write_pattern(instance);
    infer(instance, each_band ? checks::each_band : instance.drive, observed);
  }
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
  const session::Arguments arguments = session::arguments();
  const bool files = arguments.count == 4;
  Observed observed = {session::open(), 0, 0, false};
  if (observed.status == RUSH_OK && files) run_file(arguments, &observed);
  if (observed.status == RUSH_OK && !files) infer_pattern(arguments.is(1, "steps"), &observed);
  const bool intact = session::guards_intact();
  if (files) write_report(arguments.words[3], observed, intact);
  return observed.status == RUSH_OK && intact && !observed.io_failed ? 0 : 1;
}
