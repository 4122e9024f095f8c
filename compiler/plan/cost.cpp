// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/cost.h"

#include <cmath>

#include "ops/cost.h"
#include "ops/op_def.h"

namespace rush {

uint64_t step_cycles(const Program& program, const ProgramStep& step) {
  if (step.family->host->contract->written == 0) return 0;  // the caller's work
  constexpr uint64_t kUnknown = 1000;                       // a family that only a test knows
  if (find_kernel_family(step.family->name) != step.family) return kUnknown;
  const double cycles = kernel_cycles({program.isa, program.target}, step.family->name, step.params.data());
  return static_cast<uint64_t>(std::llround(cycles));
}

uint64_t program_cycles(const Program& program) {
  uint64_t cycles = 0;
  for (const ProgramStep& step : program.steps) cycles += step_cycles(program, step);
  return cycles;
}

uint64_t band_cycles(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return 500;
    case Isa::kDsp:
      return 300;
    case Isa::kMve:
      break;
  }
  return 250;
}

}  // namespace rush
