// SPDX-License-Identifier: Apache-2.0
//
// Stack painting, guard bands and the bracketed run of checks.h.
#include "checks.h"

extern "C" uint32_t __stack_limit[];

extern "C" __attribute__((noinline)) void bench_begin(void) { __asm volatile("" ::: "memory"); }
extern "C" __attribute__((noinline)) void bench_end(void) { __asm volatile("" ::: "memory"); }

namespace {

const uint32_t kPaint = 0x5AFE57ACu;
const void* fed_rows;               ///< of the run's line-fed input
const uint32_t kRedZoneWords = 16;  // what paint_below()'s own frame may need

uint8_t guard_byte(uint32_t i) { return static_cast<uint8_t>(0xC3u ^ (i * 29u)); }

inline uint32_t* stack_pointer() {
  uint32_t* sp;
  __asm volatile("mov %0, sp" : "=r"(sp));
  return sp;
}

__attribute__((noinline)) void paint_below(uint32_t* sp) {
  for (volatile uint32_t* p = __stack_limit; p < sp - kRedZoneWords; ++p) *p = kPaint;
}

uint32_t bytes_used_below(const uint32_t* sp) {
  const volatile uint32_t* p = __stack_limit;
  while (p < sp && *p == kPaint) ++p;
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(sp) - reinterpret_cast<uintptr_t>(p));
}

rush_status bracketed_step(rush_context* context) {
  bench_begin();
  const rush_status status = rush_step(context);
  bench_end();
  return status;
}

rush_status run_piece(rush_context* context) { return rush_run_some(context, 1000); }

rush_status run_by(rush_status (*advance)(rush_context*), rush_context* context, uint32_t entry) {
  rush_status status = rush_begin(context, entry);
  if (status == RUSH_OK) status = RUSH_RUNNING;
  while (status == RUSH_RUNNING) status = advance(context);
  return status;
}

}  // namespace

namespace checks {

void fill_guard(uint8_t* guard, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) guard[i] = guard_byte(i);
}

bool guard_intact(const uint8_t* guard, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes; ++i) {
    if (guard[i] != guard_byte(i)) return false;
  }
  return true;
}

rush_status fed(rush_context* context, uint32_t entry) {
  const rush_status status = rush_begin(context, entry);
  return status == RUSH_OK ? rush_feed_rows(context, fed_rows, 0xffff) : status;
}

rush_status bands(rush_context* context, uint32_t entry) { return run_by(rush_step, context, entry); }
rush_status each_band(rush_context* context, uint32_t entry) { return run_by(bracketed_step, context, entry); }
rush_status pieces(rush_context* context, uint32_t entry) { return run_by(run_piece, context, entry); }

__attribute__((noinline)) Measured run(rush_context* context, uint32_t entry, Drive* drive, const void* rows) {
  uint32_t* const sp = stack_pointer();
  fed_rows = rows;
  paint_below(sp);
  if (drive == each_band) return {drive(context, entry), bytes_used_below(sp)};
  bench_begin();
  const rush_status status = drive(context, entry);
  bench_end();
  return {status, bytes_used_below(sp)};
}

}  // namespace checks
