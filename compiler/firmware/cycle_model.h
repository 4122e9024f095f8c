// SPDX-License-Identifier: Apache-2.0
//
// Modelled cycles of executed code: an in-order issue model driven by the pipeline facts of the target's description.
// docs/targets.md says what is modelled and how far it is off.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/firmware/disassembly.h"
#include "compiler/firmware/operation.h"
#include "compiler/firmware/trace.h"
#include "compiler/target/target.h"

namespace rush::firmware {

/// The state of a pipeline between two instructions. Memory answers without wait states.
class PipelineState {
 public:
  explicit PipelineState(const Pipeline& pipeline);

  void issue(const Operation& op);
  /// Control leaves the straight line behind `last`, the instruction issued last.
  void branch(const Operation& last);
  /// Cycles since the beginning; the last instruction's issue included.
  int64_t cycles() const { return cycle_ + 1; }

 private:
  /// Groups of classes that compete: units of which there is a number, each busy until a cycle.
  enum Unit {
    kAluUnit,
    kMacUnit,
    kMemoryUnit,
    kStoreUnit,
    kFpUnit,
    kBranchUnit,
    kVectorMemoryUnit,
    kVectorAluUnit,
    kVectorMacUnit,
    kNoUnit,
    kUnits
  };
  Unit unit_of(OpClass op_class) const;

  InstructionCost cost_of(const Operation& op) const;
  int64_t operands_ready(const Operation& op) const;
  bool may_pair(const Operation& op) const;
  bool stalls_behind_load(const Operation& op) const;
  void write_registers(const Operation& op, const InstructionCost& cost);
  int64_t& free_slot(Unit unit);

  const Pipeline& pipeline_;
  std::array<InstructionCost, static_cast<size_t>(OpClass::kCount)> costs_;
  std::array<int64_t, 64> ready_{};       ///< first cycle in which the register can be read
  std::array<int64_t, 64> accumulate_{};  ///< the same for an accumulator input of the class that wrote it
  std::array<OpClass, 64> writer_{};
  std::array<std::vector<int64_t>, kUnits> free_;
  int64_t cycle_ = -1;      ///< of the last issue
  int64_t next_issue_ = 0;  ///< the earliest cycle of the next one
  int issued_ = 0;          ///< in cycle_
  int last_bytes_ = 4;
  OpClass last_class_ = OpClass::kNop;
};

struct FunctionCost {
  uint64_t instructions = 0;
  double cycles = 0;
};

struct Profile {
  uint64_t instructions = 0;
  double cycles = 0;
  std::map<std::string, FunctionCost> functions;
};

/// Costs one region of a trace.
Profile profile_region(std::span<const TraceEdge> region, const Trace& trace, const Disassembly& code,
                       const Pipeline& pipeline);

}  // namespace rush::firmware
