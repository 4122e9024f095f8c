// SPDX-License-Identifier: Apache-2.0
//
// Where every buffer of a program lies, and which steps run band by band. Region 1 is the arena, shared by all
// entries; region 2, if there is one, keeps the states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/program.h"

namespace rush {

enum : uint8_t { kArenaRegion = 1, kStateRegion = 2 };

/// Places every arena and state buffer: sets Buffer::region and offset, and Program::regions. Inputs live from
/// their entry's start, outputs to its end, rows from where they are made to where they are last read. Outputs lie
/// over the dying rows of an input as far as the kernel's order allows. Same program, same plan.
/// Throws a UserError where a region outgrows what an operand can address.
void plan_memory(Program& program);

/// One buffer of a planned program.
struct PlanRow {
  BufferId buffer;
  uint8_t region = 0;
  uint32_t offset = 0;
  uint32_t bytes = 0;
  int first_step = 0;  ///< -1: from the start of the run
  int last_step = 0;   ///< number of steps: to the end of the run
};

struct PlanSummary {
  uint32_t arena_bytes = 0;
  uint32_t state_bytes = 0;
  uint32_t weights_bytes = 0;  ///< copied to RAM
  /// No placement of these buffers in this order of steps needs less: the most bytes that live at one turn, what
  /// two of them need together, or, where all placements were tried, what the best of them needs.
  uint32_t lower_bound = 0;
  std::vector<PlanRow> rows;  ///< arena and state buffers that a run uses, in the program's order
};

/// What plan_memory() did.
PlanSummary describe_plan(const Program& program);

/// Turns the steps [first_step, first_step + step_count), each a chain of its own until now, into one chain that
/// runs band by band. Maps that nothing else reads become rings of as many rows as the runtime's order of bands
/// keeps alive; a step that has a kernel for that takes its input row by row. `band_rows`: how many rows each step
/// computes at a time, one if empty: higher bands take less time and more RAM. `keeps_scratch`: kernels that
/// can fill their scratch once a run keep it between bands, which takes less time and more RAM. Run it before
/// plan_memory(). Throws a UserError that names the layer which cannot run in bands.
void make_chain(Program& program, int first_step, int step_count, const std::vector<int>& band_rows = {},
                bool keeps_scratch = false);

}  // namespace rush
