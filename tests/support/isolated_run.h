// SPDX-License-Identifier: Apache-2.0
//
// Runs a program made for scalar cores without its memory plan: every operand of every step is a copy of exactly as
// many bytes as the kernel's extents() say, between guards, at an odd address where the contract allows it, and the
// rows are computed in random bands. What a kernel touches beyond its contract shows here.
#pragma once

#include <string>
#include <vector>

#include "compiler/ir/tensor.h"
#include "ops/program.h"
#include "tests/support/random.h"

namespace rush {

struct IsolatedRuns {
  std::vector<std::vector<HostTensor>> outputs;
  std::vector<std::string> faults;  ///< a sentence for each contract that was broken
};

/// Runs entry 0 once for each set of inputs, from the states' initial values on.
IsolatedRuns run_isolated(const Program& program, const std::vector<std::vector<HostTensor>>& inputs, Random& random);

}  // namespace rush
