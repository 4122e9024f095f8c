// SPDX-License-Identifier: Apache-2.0
//
// Test firmware for many small programs: it links the kernels of the whole class and walks a blob of records
// (records.h), executing each image in place. One start of the emulator tests hundreds of single-operator images.
#include <string.h>

#include "checks.h"
#include "instance.h"
#include "records.h"
#include "semihosting.h"

// The table of every kernel of the class (ops/full_table_<isa>.cpp), and the linker script's addresses.
extern "C" {
extern const rush_kernel_table rush_full_table;
extern uint8_t __free_start[], __free_end[], __records_start[];
}

namespace {

using rush::RecordHeader;
using rush::RecordOutcome;

const uint32_t kMaxGuards = RUSH_MAX_REGIONS + 1;

// What a record and those that go on with its instance share. Memory comes from the free RAM.
struct Bench {
  uint8_t* next;
  rush_context* context;
  uint8_t* guards[kMaxGuards];
  uint32_t guard_count;
  uint32_t opened;  // what opening the last image came to
};

// Takes 16-byte aligned memory, or null.
uint8_t* take(Bench* bench, uint32_t bytes) {
  const uint32_t size = rush::padded(bytes);
  if (size > static_cast<uint32_t>(__free_end - bench->next)) return nullptr;
  uint8_t* const memory = bench->next;
  bench->next += size;
  return memory;
}

bool take_guard(Bench* bench) {
  uint8_t* const guard = take(bench, kGuardBytes);
  if (guard == nullptr) return false;
  checks::fill_guard(guard, kGuardBytes);
  bench->guards[bench->guard_count++] = guard;
  return true;
}

// Memory that a program reads before it wrote it differs from zero, and between records.
bool take_region(Bench* bench, uint32_t bytes, rush_memory* memory) {
  uint8_t* const base = take(bench, bytes);
  if (base == nullptr || !take_guard(bench)) return false;
  memset(base, 0xA5 ^ static_cast<int>(bench->guard_count), bytes);
  *memory = {base, bytes};
  return true;
}

// A rush_status or kDoesNotFit; not a rush_status variable, which this ABI makes as short as its values allow.
uint32_t open(const RecordHeader& record, Bench* bench) {
  rush_memory memories[RUSH_MAX_REGIONS - 1];
  bench->next = __free_start;
  bench->guard_count = 0;
  const uint32_t context_bytes = RUSH_CONTEXT_BYTES(record.chain_steps);
  bench->context = reinterpret_cast<rush_context*>(take(bench, context_bytes));
  bool fits = bench->context != nullptr && take_guard(bench);
  for (uint32_t i = 0; fits && i < record.region_count; ++i) {
    fits = take_region(bench, record.region_bytes[i], &memories[i]);
  }
  if (!fits) return rush::kDoesNotFit;
  const rush_model model = {&record + 1, record.image_bytes, &rush_full_table};
  return rush_open(bench->context, context_bytes, &model, memories, record.region_count);
}

const uint8_t* input_of(const RecordHeader& record) {
  return reinterpret_cast<const uint8_t*>(&record + 1) + rush::padded(record.image_bytes);
}

const uint8_t* expected_of(const RecordHeader& record) { return input_of(record) + rush::padded(record.input_bytes); }

const RecordHeader* next_of(const RecordHeader& record) {
  return reinterpret_cast<const RecordHeader*>(expected_of(record) + rush::padded(record.output_bytes));
}

// Copies the record's input into the entry's inputs; false if the sizes do not agree.
bool give_inputs(const RecordHeader& record, rush_context* context) {
  const uint8_t* from = input_of(record);
  uint32_t left = record.input_bytes;
  for (uint32_t i = 0; const rush_io* const info = rush_input_info(context, record.entry, i); ++i) {
    if (info->bytes > left) return false;
    if (void* const input = rush_input(context, record.entry, i)) memcpy(input, from, info->bytes);
    from += info->bytes;
    left -= info->bytes;
  }
  return left == 0;
}

void compare_bytes(const uint8_t* got, const uint8_t* expected, uint32_t bytes, uint32_t base, RecordOutcome* outcome) {
  for (uint32_t i = 0; i < bytes; ++i) {
    if (got[i] == expected[i]) continue;
    if (outcome->differing_bytes++ == 0) outcome->first_difference = base + i;
  }
}

bool compare_outputs(const RecordHeader& record, rush_context* context, RecordOutcome* outcome) {
  uint32_t done = 0;
  for (uint32_t i = 0; const rush_io* const info = rush_output_info(context, record.entry, i); ++i) {
    if (info->bytes > record.output_bytes - done) return false;
    const uint8_t* const got = static_cast<const uint8_t*>(rush_output(context, record.entry, i));
    compare_bytes(got, expected_of(record) + done, info->bytes, done, outcome);
    done += info->bytes;
  }
  return done == record.output_bytes;
}

bool guards_intact(const Bench& bench) {
  for (uint32_t i = 0; i < bench.guard_count; ++i) {
    if (!checks::guard_intact(bench.guards[i], kGuardBytes)) return false;
  }
  return true;
}

checks::Drive* drive_of(const RecordHeader& record, const void* rows) {
  if (rows != nullptr) return checks::fed;
  if ((record.flags & rush::kInPieces) != 0) return checks::pieces;
  return (record.flags & rush::kBandByBand) != 0 ? checks::bands : rush_run;
}

/// The rows of the line-fed input, which is the only one then.
const uint8_t* rows_of(const RecordHeader& record, rush_context* context) {
  const rush_io* const first = rush_input_info(context, record.entry, 0);
  return first != nullptr && (first->flags & RUSH_IO_LINE_FED) != 0 ? input_of(record) : nullptr;
}

void run(const RecordHeader& record, rush_context* context, RecordOutcome* outcome) {
  outcome->status = rush::kBadRecord;
  if (!give_inputs(record, context)) return;
  const uint8_t* const rows = rows_of(record, context);
  const checks::Measured measured = checks::run(context, record.entry, drive_of(record, rows), rows);
  outcome->stack_bytes = measured.stack_bytes;
  if (measured.status != RUSH_OK || compare_outputs(record, context, outcome)) outcome->status = measured.status;
}

RecordOutcome play(const RecordHeader& record, uint32_t index, Bench* bench) {
  RecordOutcome outcome = {index, RUSH_OK, 0, 0xFFFFFFFFu, 1, 0};
  if ((record.flags & rush::kSameInstance) == 0) {
    outcome.status = bench->opened = open(record, bench);
    if (outcome.status != RUSH_OK) bench->context = nullptr;
  } else if (bench->context == nullptr) {
    outcome.status = bench->opened == rush::kDoesNotFit ? rush::kDoesNotFit : rush::kBadRecord;
  }
  if (outcome.status == RUSH_OK) run(record, bench->context, &outcome);
  outcome.guards_intact = guards_intact(*bench) ? 1 : 0;
  return outcome;
}

bool as_expected(const RecordHeader& record, const RecordOutcome& outcome) {
  return outcome.status == record.expected_status && outcome.differing_bytes == 0 && outcome.guards_intact != 0;
}

Bench bench;

}  // namespace

extern "C" void rush_exit(int code) { semihosting::exit(code); }

extern "C" int firmware_main(void) {
  const int32_t file = semihosting::open("outcomes.bin", semihosting::Mode::kWrite);
  const RecordHeader* record = reinterpret_cast<const RecordHeader*>(__records_start);
  bool ok = file >= 0;
  for (uint32_t index = 0; record->magic == rush::kRecordMagic; record = next_of(*record)) {
    const RecordOutcome outcome = play(*record, index++, &bench);
    ok = semihosting::write(file, &outcome, sizeof outcome) && as_expected(*record, outcome) && ok;
  }
  semihosting::close(file);
  return ok ? 0 : 1;
}
