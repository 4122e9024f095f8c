// SPDX-License-Identifier: Apache-2.0
//
// Which of a chip's memories each buffer lies in: tensors, rings, scratch and states in any RAM, constants in the image
// or, copied at start-up, in RAM too. Modelled waiting time (compiler/plan/cost.h) is made least under the memories'
// sizes: buffers go, those first that save most cycles a byte, where they cost least; then moves, exchanges and
// evictions follow until none saves more; last, all else is tried as far as it could be better and steps allow.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "ops/program.h"

namespace rush {

/// "LAYER.weight", "LAYER.output" or "LAYER" (both, and scratch), with * for any text, shall lie in that memory.
struct PlaceRequest {
  std::string pattern;
  std::string memory;
};

/// What place_in_memories() throws where another schedule might fit.
struct MemoriesTooSmall : UserError {
  using UserError::UserError;
};

/// Gives each buffer of a planned program a memory and a place in it; sets Program::regions. The target must describe
/// its memories. A UserError says which request cannot be met, and why, or that the memories are too small.
void place_in_memories(Program& program, const std::vector<PlaceRequest>& requests);

/// Where a buffer lies, and what that is good for.
struct MemoryRow {
  BufferId buffer;
  std::string memory;
  uint64_t bytes = 0;
  double cycles = 0;  ///< that a run waits for it
  double saves = 0;   ///< against the slowest memory that could hold it
};

/// All buffers of a program that lies in memories, those that save most first.
std::vector<MemoryRow> describe_memories(const Program& program);

}  // namespace rush
