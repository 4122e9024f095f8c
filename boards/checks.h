// SPDX-License-Identifier: Apache-2.0
//
// What test firmware watches while a model runs: how deep the stack went, and whether bytes beside its memory changed.
#ifndef RUSH_BOARDS_CHECKS_H
#define RUSH_BOARDS_CHECKS_H

#include <stdint.h>

#include "rushlight/rushlight.h"

/// The instrument that counts instructions looks for these two; a pair brackets each inference.
extern "C" void bench_begin(void);
extern "C" void bench_end(void);

namespace checks {

void fill_guard(uint8_t* guard, uint32_t bytes);
bool guard_intact(const uint8_t* guard, uint32_t bytes);

struct Measured {
  rush_status status;
  uint32_t stack_bytes;  ///< deepest stack below the call
};

/// How an entry is run: rush_run, or one of these. A firmware links the calls of the runtime that its drives make, and
/// no others: what `rushlight size` counts is what a product would link. rush_run itself, so that no frame of a wrapper
/// counts as its stack.
typedef rush_status Drive(rush_context* context, uint32_t entry);
Drive fed;        ///< rush_feed_rows
Drive bands;      ///< rush_step
Drive each_band;  ///< rush_step, with brackets of its own around every band
Drive pieces;     ///< rush_run_some, a few rows each

/// Drives an entry in brackets, on a freshly painted stack; `rows` are those of its line-fed input.
Measured run(rush_context* context, uint32_t entry, Drive* drive, const void* rows);

}  // namespace checks
#endif
