// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/lifetime.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

namespace rush {
namespace {

/// The buffer that a view shares bytes with, itself no view.
struct Root {
  size_t buffer = 0;
  uint32_t offset = 0;
};

Root root_of(const Program& program, size_t index) {
  Root root{index, 0};
  while (const auto parent = program.buffers[root.buffer].view_of) {
    root.offset += program.buffers[root.buffer].view_offset;
    root.buffer = static_cast<size_t>(parent->index);
  }
  const Buffer &view = program.buffers[index], &whole = program.buffers.at(root.buffer);
  internal_check(uint64_t{root.offset} + view.bytes <= whole.bytes && root.offset % view.alignment == 0,
                 "plan: \"" + view.name + "\" does not fit into \"" + whole.name + "\", which it views");
  return root;
}

/// One turn of an entry: a step, its start or its end.
struct Moment {
  int entry;
  int step;
  int chain;
};

constexpr int kStart = -1, kEnd = -2, kNoChain = -1;

std::vector<Moment> moments_of(const Program& program) {
  std::vector<Moment> moments;
  std::vector<bool> reached(program.steps.size(), false);
  for (size_t e = 0; e < program.entries.size(); ++e) {
    const Entry& entry = program.entries[e];
    const int index = static_cast<int>(e);
    moments.push_back({index, kStart, kNoChain});
    for (int c = entry.first_chain; c < entry.first_chain + entry.chain_count; ++c) {
      const Chain& chain = program.chains.at(static_cast<size_t>(c));
      for (int s = chain.first_step; s < chain.first_step + chain.step_count; ++s) {
        moments.push_back({index, s, c});
        reached.at(static_cast<size_t>(s)) = true;
      }
    }
    moments.push_back({index, kEnd, kNoChain});
  }
  internal_check(std::ranges::all_of(reached, std::identity()), "plan: a step belongs to no entry");
  return moments;
}

/// When a buffer is used, with all its views.
struct Uses {
  int first = std::numeric_limits<int>::max();
  int last = -1;
  std::set<int> steps;
  std::set<int> entries;
  bool port = false;

  bool any() const { return last >= 0; }
};

class LifetimeFinder {
 public:
  explicit LifetimeFinder(const Program& program)
      : program_(program),
        moments_(moments_of(program)),
        uses_(program.buffers.size()),
        group_(program.buffers.size()) {
    for (size_t i = 0; i < program.buffers.size(); ++i) roots_.push_back(root_of(program, i));
    std::iota(group_.begin(), group_.end(), size_t{0});
    collect_uses();
    for (Uses& uses : uses_) widen(uses);
    for (const Uses& uses : uses_) group_last_.push_back(uses.last);
  }

  void share_in_place() {
    for (const Moment& now : moments_) {
      if (now.step < 0) continue;
      for (const InPlace& pair : step(now).in_place) try_in_place(step(now), pair);
    }
  }

  Lifetimes result() const {
    Lifetimes out;
    std::vector<int> block_of(program_.buffers.size(), -1);
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      if (roots_[i].buffer == i && placed(i)) add_piece(i, block_of[group(i)], out);
    }
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const size_t root = roots_[i].buffer;
      if (!placed(root)) {
        out.members.push_back({});
        continue;
      }
      const int block = block_of[group(root)];
      Block& whole = out.blocks[static_cast<size_t>(block)];
      whole.alignment = std::max(whole.alignment, program_.buffers[i].alignment);
      out.members.push_back({block, roots_[i].offset, step_at(uses_[root].first), step_at(uses_[root].last)});
    }
    return out;
  }

 private:
  const ProgramStep& step(const Moment& now) const { return program_.steps[static_cast<size_t>(now.step)]; }
  const Moment& moment(int time) const { return moments_.at(static_cast<size_t>(time)); }
  int end() const { return static_cast<int>(moments_.size()); }
  bool alone(const Moment& now) const { return program_.chains[static_cast<size_t>(now.chain)].step_count == 1; }
  const Root& root(BufferId id) const { return roots_.at(static_cast<size_t>(id.index)); }

  int step_at(int time) const {
    const int step = moment(time).step;
    return step == kEnd ? static_cast<int>(program_.steps.size()) : step;
  }

  bool placed(size_t root) const { return uses_[root].any() && program_.buffers[root].kind != BufferKind::kConstant; }

  void collect_uses() {
    for (int time = 0; time < end(); ++time) {
      const Moment& now = moment(time);
      const Entry& entry = program_.entries[static_cast<size_t>(now.entry)];
      if (now.step == kStart) use_ports(entry.inputs, time);
      if (now.step == kEnd) use_ports(entry.outputs, time);
      if (now.step < 0) continue;
      for (const OperandRef& operand : step(now).operands) {
        if (operand.buffer.valid()) use(operand.buffer, time).steps.insert(now.step);
      }
    }
  }

  void use_ports(const std::vector<ProgramPort>& ports, int time) {
    for (const ProgramPort& port : ports) use(port.buffer, time).port = true;
  }

  Uses& use(BufferId id, int time) {
    Uses& uses = uses_[root(id).buffer];
    uses.first = std::min(uses.first, time);
    uses.last = std::max(uses.last, time);
    uses.entries.insert(moment(time).entry);
    return uses;
  }

  /// The steps of a chain run in turns, so what one leaves for another lives as long as the chain.
  void widen(Uses& uses) const {
    if (!uses.any()) return;
    if (uses.steps.size() > 1 || uses.port) {
      const int first_chain = moment(uses.first).chain, last_chain = moment(uses.last).chain;
      while (first_chain != kNoChain && moment(uses.first - 1).chain == first_chain) --uses.first;
      while (last_chain != kNoChain && moment(uses.last + 1).chain == last_chain) ++uses.last;
    }
    if (uses.entries.size() > 1) {
      uses.first = 0;
      uses.last = end() - 1;
    }
  }

  size_t group(size_t root) const {
    while (group_[root] != root) root = group_[root];
    return root;
  }
  size_t group_of(const OperandRef& operand) const { return group(root(operand.buffer).buffer); }
  uint64_t position(const OperandRef& operand) const { return uint64_t{root(operand.buffer).offset} + operand.offset; }

  bool in_arena(size_t root) const { return program_.buffers[root].kind == BufferKind::kArena; }

  /// Whether each operand of the step that lies in one of the two groups is half of an in-place pair of both.
  bool step_allows(const ProgramStep& step, size_t in, size_t out) const {
    std::vector<bool> paired(step.operands.size(), false);
    for (const InPlace& pair : step.in_place) {
      const OperandRef& from = step.operands.at(static_cast<size_t>(pair.input_operand));
      const OperandRef& to = step.operands.at(static_cast<size_t>(pair.output_operand));
      if (group_of(from) != in || group_of(to) != out || position(to) > position(from)) continue;
      paired[static_cast<size_t>(pair.input_operand)] = paired[static_cast<size_t>(pair.output_operand)] = true;
    }
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (!step.operands[i].buffer.valid() || paired[i]) continue;
      if (group_of(step.operands[i]) == in || group_of(step.operands[i]) == out) return false;
    }
    return true;
  }

  /// The output may join the input's group if every step in which both live computes the one over the other.
  void try_in_place(const ProgramStep& here, const InPlace& pair) {
    const size_t in = group_of(here.operands.at(static_cast<size_t>(pair.input_operand)));
    const size_t out = group_of(here.operands.at(static_cast<size_t>(pair.output_operand)));
    if (in == out || !in_arena(in) || !in_arena(out)) return;
    for (int time = uses_[out].first; time <= group_last_[in]; ++time) {
      const Moment& now = moment(time);
      if (now.step < 0 || !alone(now) || !step_allows(step(now), in, out)) return;
    }
    group_[out] = in;
    group_last_[in] = std::max(group_last_[in], group_last_[out]);
  }

  void add_piece(size_t root, int& block, Lifetimes& out) const {
    if (block < 0) {
      block = static_cast<int>(out.blocks.size());
      out.blocks.emplace_back();
      out.kinds.push_back(program_.buffers[root].kind);
    }
    out.blocks[static_cast<size_t>(block)].pieces.push_back(
        {program_.buffers[root].bytes, uses_[root].first, uses_[root].last});
  }

  const Program& program_;
  std::vector<Moment> moments_;
  std::vector<Root> roots_;      ///< of each buffer
  std::vector<Uses> uses_;       ///< of each root
  std::vector<size_t> group_;    ///< of each root: another one of its group, or itself
  std::vector<int> group_last_;  ///< of each group's own root: when the last of the group dies
};

}  // namespace

Lifetimes find_lifetimes(const Program& program, InPlacePolicy policy) {
  LifetimeFinder finder(program);
  if (policy == InPlacePolicy::kWhereAllowed) finder.share_in_place();
  return finder.result();
}

}  // namespace rush
