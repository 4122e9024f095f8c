// SPDX-License-Identifier: Apache-2.0
//
// Models with their memory: what `rushlight build` generates beside them, a table that the firmware uses. Models that
// were linked together share an arena.
#ifndef RUSH_BOARDS_INSTANCE_H
#define RUSH_BOARDS_INSTANCE_H

#include <stddef.h>
#include <stdint.h>

#include "checks.h"
#include "rushlight/rushlight.h"

enum { kGuardBytes = 64 };

/// Regions lie between guard bands: kGuardBytes each, one before the first region of a memory and one behind each.
struct Instance {
  const rush_model* model;
  rush_context* context;
  size_t context_bytes;
  const rush_memory* memories;
  uint32_t memory_count;
  uint8_t* const* guards;
  uint32_t guard_count;
  int32_t init_entry;  ///< the entry named "init", or -1
  uint32_t core_hz;    ///< clock of the board's core and of its SysTick timer
  checks::Drive* drive;
};

extern "C" const Instance rush_instances[];
extern "C" const uint32_t rush_instance_count;

#endif
