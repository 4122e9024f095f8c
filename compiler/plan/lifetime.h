// SPDX-License-Identifier: Apache-2.0
//
// Which buffers share bytes, and from when to when they live. Times run through the entries one after the other:
// one for an entry's start, one for each of its steps, one for its end. So buffers of different entries never
// live together, and one that two entries use lives always.
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

struct Lifetimes {
  std::vector<Block> blocks;
  std::vector<BufferKind> kinds;  ///< of each block
  std::vector<Member> members;    ///< of each buffer of the program
};

enum class InPlacePolicy { kNever, kWhereAllowed };

Lifetimes find_lifetimes(const Program& program, InPlacePolicy policy);

}  // namespace rush
