// SPDX-License-Identifier: Apache-2.0
//
// Parser of objdump's listing. Lines are
//   00000018 <name>:                     a function begins
//      18:	f913 cf01 	ldrsb.w	ip, [r3, #1]!	@ comment
#include "compiler/firmware/disassembly.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace rush::firmware {
namespace {

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Cuts the text at the first `separator` and returns what was before it.
std::string_view take(std::string_view& text, std::string_view separator) {
  const size_t at = text.find(separator);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + separator.size());
  return head;
}

uint32_t parse_hex(std::string_view text) {
  return static_cast<uint32_t>(std::strtoul(std::string(text).c_str(), nullptr, 16));
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<Function> parse_function(std::string_view line) {
  if (!line.ends_with(">:")) return std::nullopt;
  const std::string_view address = take(line, " <");
  if (!is_hex(address)) return std::nullopt;
  return Function{std::string(line.substr(0, line.size() - 2)), parse_hex(address), 0};
}

std::string without_remarks(std::string_view operands) {
  operands = take(operands, "@");
  return std::string(trim(take(operands, "<")));
}

std::optional<Instruction> parse_instruction(std::string_view line) {
  const std::string_view address = trim(take(line, ":\t"));
  if (!is_hex(address) || line.empty()) return std::nullopt;
  const std::string_view raw = trim(take(line, "\t"));
  const std::string_view mnemonic = trim(take(line, "\t"));
  if (mnemonic.empty() || mnemonic.starts_with(".")) return std::nullopt;
  return Instruction{parse_hex(address), raw.size() > 4 ? 4 : 2, std::string(mnemonic), without_remarks(line)};
}

void close_functions(Disassembly& d) {
  std::ranges::sort(d.functions, {}, &Function::begin);
  for (size_t i = 0; i < d.functions.size(); ++i) {
    const auto next =
        i + 1 < d.functions.size() ? d.instructions.lower_bound(d.functions[i + 1].begin) : d.instructions.end();
    d.functions[i].end = d.functions[i].begin;
    if (next == d.instructions.begin()) continue;
    const Instruction& last = std::prev(next)->second;
    d.functions[i].end = std::max(d.functions[i].begin, last.address + static_cast<uint32_t>(last.bytes));
  }
}

}  // namespace

const Function* Disassembly::function_at(uint32_t address) const {
  const auto after = std::ranges::upper_bound(functions, address, {}, &Function::begin);
  if (after == functions.begin()) return nullptr;
  const Function& function = *std::prev(after);
  return address < function.end ? &function : nullptr;
}

const Function* Disassembly::find(const std::string& name) const {
  const auto found = std::ranges::find(functions, name, &Function::name);
  return found == functions.end() ? nullptr : &*found;
}

Disassembly parse_disassembly(const std::string& objdump_output) {
  Disassembly d;
  std::string_view rest = objdump_output;
  while (!rest.empty()) {
    const std::string_view line = take(rest, "\n");
    if (auto function = parse_function(line)) d.functions.push_back(std::move(*function));
    if (auto instruction = parse_instruction(line)) d.instructions.emplace(instruction->address, *instruction);
  }
  close_functions(d);
  return d;
}

uint32_t branch_target(const Instruction& instruction) {
  const std::string_view operands = instruction.operands;
  const std::string_view last = trim(operands.substr(operands.find_last_of(",") + 1));
  return is_hex(last) ? parse_hex(last) : 0;
}

}  // namespace rush::firmware
