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

/// One bracketed run of an entry on a freshly painted stack. kSteps runs it band by band, kEachStep with a bracket
/// around every band, kSome in pieces of a few rows; `rows`, if any, are those of its line-fed input.
enum class Drive { kRun, kSteps, kEachStep, kSome };
Measured run(rush_context* context, uint32_t entry, Drive drive, const void* rows);

}  // namespace checks
#endif
