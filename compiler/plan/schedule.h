// SPDX-License-Identifier: Apache-2.0
//
// The order in which a program computes rows, as the runtime will: entries, chains, bands.
#pragma once

#include <functional>
#include <vector>

#include "ops/program.h"

namespace rush {

/// Rows [begin, end) of a step that are computed one after another; or the start or the end of an entry's run.
struct Turn {
  enum : int { kStart = -1, kEnd = -2 };
  int entry = 0;
  int step = kStart;
  int begin = 0;
  int end = 0;
};

/// Rows that a step's kernel may compute together; 0 if it keeps no order (kernel.h).
int rows_at_once(const ProgramStep& step);

/// All entries, one behind the other. Rows of kernels that keep their order take turns of their own, unless there are
/// very many.
std::vector<Turn> turns_of(const Program& program);

/// Calls `band(step, begin, end)` for each band of a chain of two or more steps, in the runtime's order: one band of
/// the last step that is ready. False if a step is never ready.
bool play_chain(const Program& program, const Chain& chain, const std::function<void(int, int, int)>& band);

}  // namespace rush
