// SPDX-License-Identifier: Apache-2.0
//
// What a linked firmware executes: `objdump -d` read back as instructions, functions and calls. Both the cycle model
// and the stack bound are computed from it, since they must hold for the code that was really linked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace rush::firmware {

struct Instruction {
  uint32_t address = 0;
  int bytes = 2;
  std::string mnemonic;  ///< lower case, as printed, e.g. "ldrb.w"
  std::string operands;  ///< without comment or symbol
};

struct Function {
  std::string name;
  uint32_t begin = 0;
  uint32_t end = 0;
};

struct Disassembly {
  std::map<uint32_t, Instruction> instructions;  ///< by address
  std::vector<Function> functions;               ///< by begin

  /// The function that holds the address, or null.
  const Function* function_at(uint32_t address) const;
  const Function* find(const std::string& name) const;
};

/// Reads what `arm-none-eabi-objdump -d` prints: address, raw bytes, mnemonic, operands, separated by tabs.
Disassembly parse_disassembly(const std::string& objdump_output);

/// The address that a branch or call names in its operands, or 0.
uint32_t branch_target(const Instruction& instruction);

}  // namespace rush::firmware
