// SPDX-License-Identifier: Apache-2.0
//
// From a lowered program and what the user wants to a planned one: the schedule, then the places.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/plan/memories.h"
#include "ops/program.h"

namespace rush {

/// What to run a program in. RAM is the whole: arena, states, stack and context.
struct ScheduleWish {
  std::optional<uint64_t> most_ram;  ///< the fastest schedule that fits; a UserError says what is in the way
  double most_added = 0;    ///< else the one of least RAM that takes so much longer than the fastest, as a part
  bool with_curve = false;  ///< fill in Program::trade_curve
};

/// The input `i` of entry 0 becomes a map of rows that the caller gives one by one. A UserError if it cannot.
void make_line_fed(Program& program, size_t i);

/// Chooses a schedule, makes its chains and places all buffers.
void plan_program(Program& program, const ScheduleWish& wish);

/// The same in the memories of a chip. Where they are too small for what is wished, the fastest schedule that they
/// hold.
void plan_in_memories(Program& program, const ScheduleWish& wish, const std::vector<PlaceRequest>& requests);

/// RAM that a planned program needs in all.
uint64_t total_ram(const Program& program);

}  // namespace rush
