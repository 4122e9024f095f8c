// SPDX-License-Identifier: Apache-2.0
//
// Which runs of steps had better be chains. Every run that can be one is tried in bands of several heights; what it
// needs beside the maps that pass it by does not depend on how the other steps run, so the best cut of the program for
// any limit of RAM is found by dynamic programming. Then each step's bands grow as far as the limit allows.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/plan/plan.h"
#include "ops/program.h"

namespace rush {

/// Steps to be made one chain.
struct PlannedChain {
  int first_step = 0;
  int step_count = 1;
  std::vector<int> band_rows;  ///< of each step
  bool keeps_scratch = false;  ///< make_chain()
};

/// One way to run a program.
struct Schedule {
  std::vector<PlannedChain> chains;
  uint64_t live_bytes = 0;    ///< most bytes in use at once: the arena is hardly larger
  uint64_t added_cycles = 0;  ///< modelled, over running every step as a whole
};

/// From the fastest schedule, which has no chains, to the one of least RAM: each needs less RAM and more time than the
/// one before it. A program that has chains already has only the schedule that it is in.
std::vector<Schedule> find_schedules(const Program& program);

/// The same chains in bands that take the least time with at most `most_live` bytes in use at once.
Schedule raise_bands(const Program& program, const Schedule& schedule, uint64_t most_live);

/// Makes the schedule's chains. Run it before plan_memory().
void apply_schedule(Program& program, const Schedule& schedule);

}  // namespace rush
