// SPDX-License-Identifier: Apache-2.0
//
// What a schedule costs, by the cost model (ops/cost.h): cycles of a step, and what running it in bands adds.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/program.h"

namespace rush {

/// Modelled cycles of each step as it runs, whole or in bands.
std::vector<uint64_t> cycles_of_steps(const Program& program);

/// Of all steps.
uint64_t program_cycles(const Program& program);

/// Modelled cycles of a step, all rows at once.
uint64_t step_cycles(const Program& program, const ProgramStep& step);

/// Bytes that a run of a step reads from each operand, or writes to it, if no cache kept any: kernels read weights
/// again for every two positions, and inputs again for every four outputs.
std::vector<double> operand_traffic(const Program& program, const ProgramStep& step);

/// Cycles that a run of the program waits for the memories that its buffers lie in; 0 if the target does not say.
double memory_cycles(const Program& program);

/// The same of one operand, if it lay in that memory.
double memory_cycles(const Program& program, const ChipMemory& memory, double buffer_bytes, double traffic,
                     bool writes);

/// Modelled cycles of a step of a chain, `band_rows` rows at a time.
uint64_t step_cycles(const Program& program, const ProgramStep& step, int band_rows);

}  // namespace rush
