// SPDX-License-Identifier: Apache-2.0
//
// The deepest stack of a linked firmware's run: frames and calls read from its instructions, so that it covers library
// functions and assembly too. An indirect call reaches whatever the
// question says that it may reach.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/firmware/disassembly.h"

namespace rush::firmware {

/// What one function does to the stack.
struct Frame {
  uint32_t bytes = 0;           ///< all that it ever pushes or subtracts, an upper bound
  std::set<std::string> calls;  ///< tail calls included
  bool calls_indirectly = false;
  bool bounded = true;  ///< false: moves the stack pointer by an amount that is not in the code
};

std::map<std::string, Frame> read_frames(const Disassembly& code);

struct StackBound {
  uint32_t bytes = 0;
  std::vector<std::string> path;    ///< the deepest chain of calls
  std::vector<std::string> faults;  ///< why it is not a bound: recursion, a frame of unknown size, an indirect call
};

struct StackQuestion {
  std::vector<std::string> roots;  ///< functions that the user calls
  /// Whom a function that calls through a pointer may reach. A function that is missing here must not do so.
  std::map<std::string, std::set<std::string>> indirect_calls;
};

StackBound bound_stack(const std::map<std::string, Frame>& frames, const StackQuestion& question);

/// From GCC's or clang's -fstack-usage text: functions whose frame the compiler calls dynamic.
std::vector<std::string> dynamic_frames(const std::string& su_text);

}  // namespace rush::firmware
