// SPDX-License-Identifier: Apache-2.0
//
// The pipeline: instructions issue in order, at the earliest cycle in which their operands are ready, their unit is
// free and the core may issue another one. A block costs the cycles that it adds behind its predecessor; the trace
// counts such pairs, so a loop is costed in its steady state and every block with the stalls that really precede it.
#include "compiler/firmware/cycle_model.h"

#include <algorithm>
#include <bit>

#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace {

using enum OpClass;

bool is_vector(OpClass c) { return c >= kVectorLoad && c <= kVectorFp; }

bool is_load(OpClass c) { return c == kLoad || c == kLoadNarrow || c == kLoadMany || c == kFpLoad; }

bool is_memory(OpClass c) { return is_load(c) || c == kStore || c == kStoreMany || c == kFpStore; }

bool writes_pc(const Operation& op) { return (op.results >> 15) & 1; }

/// Narrow loads cost what loads cost unless the description tells them apart; a class that it leaves out, one cycle.
InstructionCost described_cost(const Pipeline& pipeline, OpClass c) {
  const auto found = pipeline.costs.find(std::string(name_of(c)));
  if (found != pipeline.costs.end()) return found->second;
  return c == kLoadNarrow ? described_cost(pipeline, kLoad) : InstructionCost{};
}

/// Whether a product of `writer` reaches the accumulator of `reader` by the short path.
bool forwards(OpClass writer, OpClass reader) { return writer == reader || (writer == kMul && reader == kMac); }

template <class Visit>
void for_each_register(Registers registers, Visit visit) {
  for (; registers; registers &= registers - 1) visit(static_cast<size_t>(std::countr_zero(registers)));
}

}  // namespace

PipelineState::Unit PipelineState::unit_of(OpClass c) const {
  const Unit store_unit = pipeline_.loads_per_cycle > 1 ? kStoreUnit : kMemoryUnit;
  switch (c) {
    case kMul:
    case kMac:
    case kLongMul:
    case kDiv:
      return kMacUnit;
    case kLoad:
    case kLoadNarrow:
    case kLoadMany:
    case kFpLoad:
      return kMemoryUnit;
    case kVectorLoad:
    case kVectorStore:
    case kVectorGather:
    case kVectorScatter:
      return kVectorMemoryUnit;
    case kStore:
    case kStoreMany:
    case kFpStore:
      return store_unit;
    case kFpMove:
    case kFpAlu:
    case kFpMac:
    case kFpDiv:
      return kFpUnit;
    case kBranch:
    case kBranchLink:
    case kBranchIndirect:
      return kBranchUnit;
    case kVectorAlu:
    case kVectorShift:
    case kVectorToCore:
    case kPredicate:
      return kVectorAluUnit;
    case kVectorMul:
    case kVectorMacToCore:
    case kVectorFp:
      return kVectorMacUnit;
    case kLoopStart:
    case kLoopEnd:
    case kIfThen:
    case kNop:
    case kCount:
      return kNoUnit;
    case kAlu:
    case kShiftAlu:
    case kBitField:
      break;
  }
  return kAluUnit;
}

PipelineState::PipelineState(const Pipeline& pipeline) : pipeline_(pipeline) {
  for (size_t i = 0; i < costs_.size(); ++i) costs_[i] = described_cost(pipeline, static_cast<OpClass>(i));
  for (auto& unit : free_) unit.assign(1, 0);
  if (pipeline.pairing != Pairing::kNone) free_[kAluUnit].assign(2, 0);
  free_[kNoUnit].assign(2, 0);
  free_[kMemoryUnit].assign(static_cast<size_t>(pipeline.loads_per_cycle), 0);
}

InstructionCost PipelineState::cost_of(const Operation& op) const {
  InstructionCost cost = costs_[static_cast<size_t>(op.op_class)];
  if (op.op_class != kLoadMany && op.op_class != kStoreMany) return cost;
  const int beats = (op.registers_moved + pipeline_.words_per_cycle - 1) / pipeline_.words_per_cycle;
  return {cost.busy + beats - 1, cost.latency + beats - 1, cost.accumulate};
}

int64_t PipelineState::operands_ready(const Operation& op) const {
  int64_t ready = 0;
  for_each_register(op.reads, [&](size_t r) { ready = std::max(ready, ready_[r]); });
  for_each_register(op.accumulates, [&](size_t r) {
    ready = std::max(ready, forwards(writer_[r], op.op_class) ? accumulate_[r] : ready_[r]);
  });
  for_each_register(op.stored, [&](size_t r) { ready = std::max(ready, ready_[r] - pipeline_.store_data_delay); });
  return ready;
}

bool PipelineState::may_pair(const Operation& op) const {
  if (issued_ != 1 || pipeline_.pairing == Pairing::kNone) return false;
  if (is_vector(op.op_class) || is_vector(last_class_)) return false;
  return pipeline_.pairing == Pairing::kAny || (op.bytes == 2 && last_bytes_ == 2);
}

bool PipelineState::stalls_behind_load(const Operation& op) const {
  return pipeline_.pipelined_loads && is_load(last_class_) && !is_memory(op.op_class);
}

int64_t& PipelineState::free_slot(Unit unit) { return *std::ranges::min_element(free_[unit]); }

void PipelineState::write_registers(const Operation& op, const InstructionCost& cost) {
  for_each_register(op.results, [&](size_t r) {
    ready_[r] = cycle_ + cost.latency;
    accumulate_[r] = cycle_ + (cost.accumulate > 0 ? cost.accumulate : cost.latency);
    writer_[r] = op.op_class;
  });
  for_each_register(op.updates, [&](size_t r) { ready_[r] = cycle_ + 1; });
}

void PipelineState::issue(const Operation& op) {
  const InstructionCost cost = cost_of(op);
  if (cost.busy == 0) return;  // folded
  int64_t& unit = free_slot(unit_of(op.op_class));
  const int64_t earliest = std::max({operands_ready(op), unit, next_issue_ + (stalls_behind_load(op) ? 1 : 0)});
  if (cycle_ >= 0 && may_pair(op) && std::max(operands_ready(op), unit) <= cycle_ && next_issue_ <= cycle_ + 1) {
    ++issued_;
  } else {
    cycle_ = earliest;
    issued_ = 1;
  }
  // A vector instruction keeps only its unit busy, so that the other units overlap with its later beats; a scalar
  // one keeps the issue stage.
  unit = cycle_ + cost.busy;
  next_issue_ = std::max(next_issue_, cycle_ + (is_vector(op.op_class) ? 1 : cost.busy));
  write_registers(op, cost);
  last_class_ = op.op_class;
  last_bytes_ = op.bytes;
}

void PipelineState::branch(const Operation& last) {
  if (last.op_class == kLoopEnd) return;
  if (last.op_class == kLoopStart) return;
  const bool indirect = last.op_class == kBranchIndirect || writes_pc(last);
  next_issue_ += indirect ? pipeline_.branch_indirect : pipeline_.branch_taken;
}

namespace {

/// A block's decoded instructions.
struct Code {
  std::vector<Operation> operations;
  uint32_t begin = 0;
  uint32_t end = 0;
};

Code decode_block(const TraceBlock& block, const Disassembly& code) {
  Code result{{}, block.address, block.address};
  for (uint32_t i = 0; i < block.instructions; ++i) {
    const auto found = code.instructions.find(result.end);
    internal_check(found != code.instructions.end(), "the trace executes code that the disassembly does not have");
    result.operations.push_back(decode(found->second));
    result.end += static_cast<uint32_t>(found->second.bytes);
  }
  return result;
}

void run(PipelineState& state, const Code& block) {
  for (const Operation& op : block.operations) state.issue(op);
}

void follow(PipelineState& state, const Code& from, const Code& to) {
  if (to.begin != from.end && !from.operations.empty()) state.branch(from.operations.back());
  run(state, to);
}

/// Cycles that `to` adds behind `from`. A loop's block is first run once more, for its steady state.
int64_t edge_cycles(const Code* from, const Code& to, const Pipeline& pipeline) {
  PipelineState state(pipeline);
  if (!from) {
    run(state, to);
    return state.cycles();
  }
  run(state, *from);
  if (from == &to) follow(state, *from, to);
  const int64_t before = state.cycles();
  follow(state, *from, to);
  return state.cycles() - before;
}

/// How often a block's final branch went each way.
struct Directions {
  uint64_t taken = 0;
  uint64_t fell_through = 0;
};

double mispredicted_cycles(const Code& block, const Directions& ways, const Pipeline& pipeline) {
  if (block.operations.empty() || !block.operations.back().conditional) return 0;
  return static_cast<double>(std::min(ways.taken, ways.fell_through)) * pipeline.mispredict;
}

class RegionProfile {
 public:
  RegionProfile(const Trace& trace, const Disassembly& code, const Pipeline& pipeline)
      : trace_(trace), disassembly_(code), pipeline_(pipeline) {}

  void add(const TraceEdge& edge) {
    const Code* from = edge.from < 0 ? nullptr : &block(edge.from);
    const Code& to = block(edge.to);
    const auto count = static_cast<double>(edge.count);
    charge(to, edge.count * to.operations.size(), count * static_cast<double>(edge_cycles(from, to, pipeline_)));
    if (from) (to.begin == from->end ? ways_[edge.from].fell_through : ways_[edge.from].taken) += edge.count;
  }

  Profile finish() {
    for (const auto& [id, ways] : ways_) charge(block(id), 0, mispredicted_cycles(block(id), ways, pipeline_));
    return std::move(profile_);
  }

 private:
  const Code& block(int id) {
    const auto found = codes_.find(id);
    if (found != codes_.end()) return found->second;
    return codes_.emplace(id, decode_block(trace_.blocks[static_cast<size_t>(id)], disassembly_)).first->second;
  }

  void charge(const Code& to, uint64_t instructions, double cycles) {
    const Function* function = disassembly_.function_at(to.begin);
    FunctionCost& cost = profile_.functions[function ? function->name : "?"];
    cost.instructions += instructions;
    cost.cycles += cycles;
    profile_.instructions += instructions;
    profile_.cycles += cycles;
  }

  const Trace& trace_;
  const Disassembly& disassembly_;
  const Pipeline& pipeline_;
  std::map<int, Code> codes_;
  std::map<int, Directions> ways_;
  Profile profile_;
};

}  // namespace

Profile profile_region(std::span<const TraceEdge> region, const Trace& trace, const Disassembly& code,
                       const Pipeline& pipeline) {
  RegionProfile result(trace, code, pipeline);
  for (const TraceEdge& edge : region) result.add(edge);
  return result.finish();
}

}  // namespace rush::firmware
