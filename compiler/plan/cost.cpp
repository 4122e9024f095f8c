// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/cost.h"
#include "ops/op_def.h"

namespace rush {

namespace {

/// What the runtime takes to find the next band and its kernel to begin with it. The former was measured on
/// DS-CNN in bands of one row, 450, 350 and 290 cycles in this order; the latter is an estimate.
uint64_t band_start_cycles(Isa isa) {
  switch (isa) {
    case Isa::kScalar:
      return 700;
    case Isa::kDsp:
      return 450;
    case Isa::kMve:
      break;
  }
  return 350;
}

uint64_t rounded(double cycles) { return static_cast<uint64_t>(std::llround(cycles)); }

bool is_callers_work(const ProgramStep& step) { return step.family->host->contract->written == 0; }

/// Some families only tests know.
bool is_modelled(const ProgramStep& step) { return find_kernel_family(step.family->name) == step.family; }
constexpr uint64_t kUnknown = 1000;

}  // namespace

uint64_t step_cycles(const Program& program, const ProgramStep& step) {
  if (is_callers_work(step)) return 0;
  if (!is_modelled(step)) return kUnknown;
  return rounded(kernel_cycles({program.isa, program.core}, step.family->name, step.params.data()));
}

uint64_t step_cycles(const Program& program, const ProgramStep& step, int band_rows) {
  const int bands = (step.rows + band_rows - 1) / band_rows;
  const uint64_t starts = static_cast<uint64_t>(bands) * band_start_cycles(program.isa);
  if (is_callers_work(step)) return starts;
  if (!is_modelled(step)) return starts + kUnknown;
  return starts + rounded(banded_cycles({program.isa, program.core}, step.family->name, step.params.data(), step.rows,
                                        band_rows));
}

namespace {

/// All rows of a map, even if only a ring of them lies in memory.
double map_bytes(const Program& program, const ProgramStep& step, size_t operand, uint32_t extent) {
  const auto& type = program[step.operands[operand].buffer].type;
  return type ? static_cast<double>(element_count(type->shape) * static_cast<int64_t>(dtype_bytes(type->dtype)))
              : extent;
}

}  // namespace

std::vector<double> operand_traffic(const Program& program, const ProgramStep& step) {
  constexpr double kPositions = 2, kOutputs = 4;  // that kernels make at once
  const HostKernel& kernel = *step.family->host;
  const auto macs = static_cast<double>(step.macs);
  Extents extents{};
  if (kernel.contract->extents != nullptr) kernel.contract->extents(step.params.data(), &extents);
  const int weights = kernel.packing.operand;
  const double passes =
      weights >= 0 && extents.bytes[weights] > 0 ? std::max(1.0, macs / kPositions / extents.bytes[weights]) : 1;
  const bool copies = kernel.scratch_operand >= 0 && extents.bytes[kernel.scratch_operand] > 0;
  std::vector<double> traffic;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    const BufferId id = step.operands[i].buffer;
    if (!id.valid()) {
      traffic.push_back(0);
    } else if (program[id].kind == BufferKind::kConstant) {
      traffic.push_back(passes * extents.bytes[i]);
    } else if (!program[id].type) {
      traffic.push_back(std::max<double>(2.0 * extents.bytes[i], macs / kOutputs));
    } else {
      const double bytes = map_bytes(program, step, i, extents.bytes[i]);
      traffic.push_back(fills(kernel, i) || copies ? bytes : std::max(bytes, macs / kOutputs));
    }
  }
  return traffic;
}

double memory_cycles(const Program& program, const ChipMemory& memory, double buffer_bytes, double traffic,
                     bool writes) {
  constexpr double kLine = 32;
  // What fills no more than half of the cache is read from memory once.
  const bool stays = memory.cached && buffer_bytes <= static_cast<double>(program.cache_bytes) / 2;
  const double lines = (stays ? std::min(traffic, buffer_bytes) : traffic) / kLine;
  return lines * (writes ? memory.write_cycles : memory.read_cycles);
}

namespace {

/// Constants that are not copied lie in the flash.
const ChipMemory* memory_of(const Program& program, const Buffer& buffer) {
  for (const ChipMemory& memory : program.memories) {
    if (buffer.region == 0 ? memory.is_flash : memory.name == program.regions.at(buffer.region - 1u).memory)
      return &memory;
  }
  return nullptr;
}

}  // namespace

double memory_cycles(const Program& program) {
  double cycles = 0;
  for (const ProgramStep& step : program.steps) {
    const std::vector<double> traffic = operand_traffic(program, step);
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (!step.operands[i].buffer.valid()) continue;
      const Buffer& buffer = program[step.operands[i].buffer];
      const ChipMemory* const memory = memory_of(program, buffer);
      if (memory != nullptr)
        cycles += memory_cycles(program, *memory, buffer.bytes, traffic[i], fills(*step.family->host, i));
    }
  }
  return cycles;
}

std::vector<uint64_t> cycles_of_steps(const Program& program) {
  std::vector<uint64_t> cycles;
  for (const ProgramStep& step : program.steps) cycles.push_back(step_cycles(program, step));
  for (const Chain& chain : program.chains) {
    for (size_t place = 0; place < chain.links.size(); ++place) {
      const auto s = static_cast<size_t>(chain.first_step) + place;
      cycles[s] = step_cycles(program, program.steps[s], chain.links[place].band_rows);
    }
  }
  return cycles;
}

uint64_t program_cycles(const Program& program) {
  const std::vector<uint64_t> cycles = cycles_of_steps(program);
  return std::accumulate(cycles.begin(), cycles.end(), uint64_t{0});
}

}  // namespace rush
