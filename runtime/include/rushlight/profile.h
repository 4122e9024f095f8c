/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the time of a run goes, measured on the device by any timer, and the log that `rushlight profile --log` reads.
 * An optional part of the runtime: nothing of it is linked, and a run costs nothing more, where it is not called.
 * docs/profiling.md has an example and the format of the log. */
#ifndef RUSHLIGHT_PROFILE_H
#define RUSHLIGHT_PROFILE_H

#include <stdint.h>

#include "rushlight/rushlight.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Counts up and wraps at 2^32: a cycle counter, or a timer of the user's. No band of a step may take that long. */
typedef uint32_t rush_timer(void);

/** What a step took, over all its bands and all profiled runs. */
typedef struct rush_step_ticks {
  uint64_t ticks;
  uint32_t bands;
} rush_step_ticks;

/** Filled in by the caller, `steps` and `runs` with zeros. */
typedef struct rush_profile {
  rush_timer* timer;
  uint32_t timer_hz; /**< ticks of the timer in a second */
  uint32_t core_hz;  /**< the core's clock: timer_hz if the timer counts cycles */
  uint32_t runs;
  rush_step_ticks* steps; /**< rush_step_count() elements: MODEL_STEP_COUNT of model.h */
} rush_profile;

/** As rush_run, with what each step takes added to `profile`. RUSH_NEEDS_ROWS for a line-fed input, whose run the
 * caller drives. */
rush_status rush_profile_run(rush_context* context, uint32_t entry, rush_profile* profile);

/** Takes one line of a log, which ends in '\n' and not in a zero: to a UART, to RTT, into a file. */
typedef void rush_write_line(void* user, const char* line, uint32_t bytes);

/** Writes the profile's log: a line for each step that ran, one before and one behind. */
void rush_profile_write(const rush_context* context, const rush_profile* profile, rush_write_line* write, void* user);

#ifdef __cplusplus
}
#endif
#endif
