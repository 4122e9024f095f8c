// SPDX-License-Identifier: Apache-2.0
//
// Frames are summed over the whole function, branches ignored: every push counts, no pop gives back. Prologues push
// once, so the sum is the frame; where a function pushes on two paths it is larger than needed, never smaller.
#include "compiler/firmware/stack_bound.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "compiler/firmware/operation.h"

namespace rush::firmware {
namespace {

using enum OpClass;
constexpr Registers kSpBit = Registers{1} << 13;

bool is_word(const std::string& mnemonic, std::string_view word) {
  return mnemonic == word ||
         (mnemonic.starts_with(word) && (mnemonic[word.size()] == '.' || mnemonic[word.size()] == 'w'));
}

/// The last "#N" of the operands, or 0.
int64_t immediate(const std::string& operands) {
  const size_t at = operands.rfind('#');
  int64_t value = 0;
  if (at != std::string::npos) std::from_chars(operands.data() + at + 1, operands.data() + operands.size(), value);
  return value;
}

/// Bytes that a store multiple moves: core and single registers are one word each.
uint32_t list_bytes(const Operation& op) { return static_cast<uint32_t>(op.registers_moved) * 4; }

bool writes_sp(const Instruction& i) { return i.operands.starts_with("sp,"); }

void add_adjustment(const Instruction& i, Frame& frame) {
  const bool subtracts = is_word(i.mnemonic, "sub");
  if (!subtracts && !is_word(i.mnemonic, "add")) return;
  const bool by_constant = i.operands.find('#') != std::string::npos;
  if (by_constant && subtracts) frame.bytes += static_cast<uint32_t>(immediate(i.operands));
  if (!by_constant) frame.bounded = false;
}

void add_stack_use(const Instruction& i, const Operation& op, Frame& frame) {
  if (op.op_class == kStoreMany && (op.updates & kSpBit) && i.operands.find('{') != std::string::npos) {
    frame.bytes += list_bytes(op);
  } else if ((op.op_class == kStore || op.op_class == kStoreMany || op.op_class == kFpStore) && (op.updates & kSpBit)) {
    const int64_t moved = immediate(i.operands);
    if (moved < 0) frame.bytes += static_cast<uint32_t>(-moved);
  } else if (writes_sp(i)) {
    add_adjustment(i, frame);
  }
}

void add_call(const Instruction& i, const Operation& op, const Disassembly& code, Frame& frame) {
  if (op.op_class == kBranchIndirect) {
    const bool returns = i.operands == "lr" || i.mnemonic.starts_with("tb");
    frame.calls_indirectly = frame.calls_indirectly || !returns;
    return;
  }
  if (op.op_class != kBranch && op.op_class != kBranchLink) return;
  const uint32_t target = branch_target(i);
  const Function* callee = code.function_at(target);
  const Function* self = code.function_at(i.address);
  if (!callee || (callee == self && op.op_class == kBranch)) return;
  frame.calls.insert(callee->name);
}

class Search {
 public:
  Search(const std::map<std::string, Frame>& frames, const StackQuestion& question)
      : frames_(frames), question_(question) {}

  StackBound from(const std::string& name) {
    const auto known = done_.find(name);
    if (known != done_.end()) return known->second;
    if (!active_.insert(name).second) return StackBound{0, {}, {name + " is recursive"}};
    StackBound bound = deepest_callee(name);
    const Frame& frame = frame_of(name);
    bound.bytes += frame.bytes;
    bound.path.insert(bound.path.begin(), name);
    if (!frame.bounded) bound.faults.push_back(name + " has a frame of unknown size");
    active_.erase(name);
    return done_[name] = bound;
  }

 private:
  const Frame& frame_of(const std::string& name) const {
    static const Frame kNone;
    const auto found = frames_.find(name);
    return found == frames_.end() ? kNone : found->second;
  }

  std::set<std::string> callees(const std::string& name, std::vector<std::string>& faults) const {
    const Frame& frame = frame_of(name);
    std::set<std::string> all = frame.calls;
    if (!frame.calls_indirectly) return all;
    const auto reached = question_.indirect_calls.find(name);
    if (reached == question_.indirect_calls.end()) {
      faults.push_back(name + " calls through a pointer");
    } else {
      all.insert(reached->second.begin(), reached->second.end());
    }
    return all;
  }

  StackBound deepest_callee(const std::string& name) {
    StackBound deepest;
    std::vector<std::string> faults;
    for (const std::string& callee : callees(name, faults)) {
      StackBound bound = from(callee);
      faults.insert(faults.end(), bound.faults.begin(), bound.faults.end());
      if (bound.bytes > deepest.bytes) deepest = std::move(bound);
    }
    deepest.faults = std::move(faults);
    return deepest;
  }

  const std::map<std::string, Frame>& frames_;
  const StackQuestion& question_;
  std::map<std::string, StackBound> done_;
  std::set<std::string> active_;
};

}  // namespace

std::map<std::string, Frame> read_frames(const Disassembly& code) {
  std::map<std::string, Frame> frames;
  for (const Function& function : code.functions) {
    Frame& frame = frames[function.name];
    const auto end = code.instructions.lower_bound(function.end);
    for (auto at = code.instructions.lower_bound(function.begin); at != end; ++at) {
      const Operation op = decode(at->second);
      add_stack_use(at->second, op, frame);
      add_call(at->second, op, code, frame);
    }
  }
  return frames;
}

StackBound bound_stack(const std::map<std::string, Frame>& frames, const StackQuestion& question) {
  Search search(frames, question);
  StackBound deepest;
  std::set<std::string> faults;
  for (const std::string& root : question.roots) {
    StackBound bound = search.from(root);
    faults.insert(bound.faults.begin(), bound.faults.end());
    if (bound.bytes > deepest.bytes) deepest = std::move(bound);
  }
  deepest.faults.assign(faults.begin(), faults.end());
  return deepest;
}

std::vector<std::string> dynamic_frames(const std::string& su_text) {
  std::vector<std::string> names;
  std::istringstream in(su_text);
  for (std::string line; std::getline(in, line);) {
    const size_t kind = line.rfind('\t');
    if (kind == std::string::npos || line.substr(kind + 1) != "dynamic") continue;
    names.push_back(line.substr(0, line.find('\t')));
  }
  return names;
}

}  // namespace rush::firmware
