// SPDX-License-Identifier: Apache-2.0
//
// Test firmware that shows one model's run from within. With the command line "rushlight profile LOG" it profiles one
// inference on the fixed pattern by the SysTick timer and writes the log of rushlight/profile.h. With "rushlight
// outputs INPUT OUTPUT" it runs every inference in the file INPUT band by band, and writes to OUTPUT what each band has
// written: all bytes behind each operand that its kernel writes, in the order of the operands.
#include "image_access.h"
#include "rushlight/kernel.h"
#include "rushlight/profile.h"
#include "semihosting.h"
#include "session.h"

extern uint8_t __free_start[], __free_end[];

namespace {

using semihosting::Mode;

const Instance& model = rush_instances[0];

// SysTick: Armv7-M Architecture Reference Manual (DDI 0403), section B3.3. It counts 24 bits down.
volatile uint32_t* const systick = reinterpret_cast<volatile uint32_t*>(0xE000E010u);
enum : uint32_t { kControl, kReload, kCurrent, kMost = 0xFFFFFFu, kFromCoreClock = 5 };

void start_timer() {
  systick[kReload] = kMost;
  systick[kCurrent] = 0;
  systick[kControl] = kFromCoreClock;
}

uint32_t now() {
  static uint32_t last, ticks;
  const uint32_t current = systick[kCurrent];
  ticks += (last - current) & kMost;
  last = current;
  return ticks;
}

void write_line(void* file, const char* text, uint32_t bytes) {
  semihosting::write(*static_cast<const int32_t*>(file), text, bytes);
}

/// One counter for each step, in the free memory; null if they do not fit.
rush_step_ticks* step_counters() {
  const uint32_t bytes = rush_step_count(model.context) * static_cast<uint32_t>(sizeof(rush_step_ticks));
  if (bytes > static_cast<uint32_t>(__free_end - __free_start)) return nullptr;
  for (uint32_t i = 0; i < bytes; ++i) __free_start[i] = 0;
  return reinterpret_cast<rush_step_ticks*>(__free_start);
}

bool profile(const char* path) {
  int32_t file = semihosting::open(path, Mode::kWrite);
  const uint32_t hz = model.core_hz;
  rush_profile measured = {now, hz, hz, 0, step_counters()};
  if (file < 0) return false;
  session::write_pattern(model);
  start_timer();
  const bool ok = rush_profile_run(model.context, 0, &measured) == RUSH_OK;
  rush_profile_write(model.context, &measured, write_line, &file);
  semihosting::close(file);
  return ok;
}

bool write_band(const rush_context& context, uint32_t step_index, int32_t file) {
  using namespace rush;
  const ImageStep& step = elements<ImageStep>(context.image, SectionKind::kSteps)[step_index];
  const KernelContract& contract = *context.kernels->entries[step.kernel].contract;
  const uint32_t* const operands = elements<uint32_t>(context.image, SectionKind::kOperands) + step.first_operand;
  Extents extents = {};
  contract.extents(elements<uint8_t>(context.image, SectionKind::kParams) + step.params, &extents);
  bool ok = true;
  for (uint32_t i = 0; i < contract.operand_count; ++i) {
    if ((contract.written >> i & 1u) == 0) continue;
    const uint8_t* const at = context.regions[operands[i] >> kOperandRegionShift] + (operands[i] & kOperandOffsetMask);
    ok = semihosting::write(file, at, extents.bytes[i]) && ok;
  }
  return ok;
}

bool run_bands(rush_context* context, int32_t file) {
  if (rush_begin(context, 0) != RUSH_OK) return false;
  for (uint32_t step = rush_next_step(context); step != RUSH_NO_STEP; step = rush_next_step(context)) {
    const rush_status status = rush_step(context);
    if (status != RUSH_OK && status != RUSH_RUNNING) return false;
    if (!write_band(*context, step, file)) return false;
  }
  return true;
}

bool write_all_outputs(const char* from, const char* to) {
  const int32_t input = semihosting::open(from, Mode::kRead), output = semihosting::open(to, Mode::kWrite);
  bool ok = input >= 0 && output >= 0;
  for (uint32_t left = ok ? session::inferences_in(input) : 0; ok && left > 0; --left) {
    ok = session::read_inputs(model, input) && run_bands(model.context, output);
  }
  semihosting::close(input);
  semihosting::close(output);
  return ok;
}

}  // namespace

extern "C" void rush_exit(int code) { semihosting::exit(code); }

extern "C" int firmware_main(void) {
  const session::Arguments arguments = session::arguments();
  if (session::open() != RUSH_OK) return 1;
  bool ok = false;
  if (arguments.is(1, "profile") && arguments.count == 3) ok = profile(arguments.words[2]);
  if (arguments.is(1, "outputs") && arguments.count == 4)
    ok = write_all_outputs(arguments.words[2], arguments.words[3]);
  return ok && session::guards_intact() ? 0 : 1;
}
