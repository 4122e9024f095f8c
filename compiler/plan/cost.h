// SPDX-License-Identifier: Apache-2.0
//
// What a schedule costs, by the cost model (ops/cost.h): cycles of a step, and what running it in bands adds.
#pragma once

#include <cstdint>

#include "ops/program.h"

namespace rush {

/// Modelled cycles of all steps.
uint64_t program_cycles(const Program& program);

/// Modelled cycles of a step, all rows at once.
uint64_t step_cycles(const Program& program, const ProgramStep& step);

/// Cycles that each band of a chain takes on top of what its rows take: choosing the step, and the kernel's start.
uint64_t band_cycles(Isa isa);

}  // namespace rush
