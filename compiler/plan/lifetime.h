// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of every buffer hold something that is still needed, from turn to turn, and how close two buffers may
// come. A map fills row by row and dies row by row, so the map that is made from it may follow close behind: how
// close is what each kernel says of its order (ProgramStep, HostKernel). Turns of different entries never overlap;
// a buffer that two entries use lives always.
#pragma once

#include <vector>

#include "compiler/plan/placement.h"
#include "ops/program.h"

namespace rush {

/// A buffer's place and time.
struct Member {
  int block = -1;       ///< -1: a constant, or a buffer that no run touches
  uint32_t offset = 0;  ///< in the block; a view's may be above 0
  int first_step = 0;   ///< -1: from the start of a run
  int last_step = 0;    ///< number of steps: to the end of a run
};

/// Blocks of one kind of memory.
struct Tenants {
  std::vector<Block> blocks;
  std::vector<Conflict> conflicts;
  uint64_t most_live = 0;  ///< bytes in use at once: no placement needs less
};

struct Lifetimes {
  Tenants arena;
  Tenants state;
  std::vector<Member> members;  ///< of each buffer of the program; blocks are counted by kind
};

Lifetimes find_lifetimes(const Program& program);

/// What is in use at the turn at which most is.
struct PeakTenant {
  BufferId buffer;
  uint64_t bytes = 0;
};
struct Peak {
  int step = -1;
  std::vector<PeakTenant> tenants;
};
/// In one region of a planned program, or, with 0, in all arenas together.
Peak find_peak(const Program& program, uint8_t region = 0);

/// Lifetimes::arena.most_live alone, which is quicker.
uint64_t most_live_bytes(const Program& program);

}  // namespace rush
