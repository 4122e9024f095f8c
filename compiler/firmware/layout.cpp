// SPDX-License-Identifier: Apache-2.0
//
// Regions and guards are separate sections, numbered in the order in which they lie, so that the linker map tells the
// model's memory (product) from the guard bands (harness).
#include "compiler/firmware/layout.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rush::firmware {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// The linker's name of a memory: the board's default ones are FLASH and RAM whatever they are called.
std::string linker_name(const Board& board, const BoardMemory& memory) {
  if (&memory == &board.flash()) return "FLASH";
  if (&memory == &board.ram()) return "RAM";
  return memory.kind == BoardMemory::Kind::kVectors ? "VECTORS" : upper(memory.name);
}

const BoardMemory& memory_of(const RegionFacts& region, const Board& board) {
  for (const BoardMemory& memory : board.memories) {
    if (memory.kind == BoardMemory::Kind::kRam && memory.name == region.name) return memory;
  }
  return board.ram();
}

std::string memory_sections(const Board& board) {
  std::string text = "SECTIONS\n{\n";
  for (const BoardMemory& memory : board.memories) {
    if (memory.kind != BoardMemory::Kind::kRam) continue;
    text +=
        fmt::format("  .memory.{0} (NOLOAD) : ALIGN(16) {{ *(SORT_BY_NAME(.memory.{0}.*)) . = ALIGN(16); }} > {1}\n",
                    memory.name, linker_name(board, memory));
  }
  return text + "}\n";
}

/// Section attribute of the n-th piece in a memory.
std::string placed(const BoardMemory& memory, size_t piece, const char* what) {
  return fmt::format("__attribute__((aligned(16), section(\".memory.{}.{:02}.{}\")))", memory.name, piece, what);
}

struct Source {
  std::vector<std::string> guards;
  std::string definitions;
  std::vector<std::string> regions;
  std::vector<std::pair<const BoardMemory*, size_t>> pieces;  ///< so far, for each memory

  size_t next_piece(const BoardMemory& memory) {
    const auto found = std::ranges::find(pieces, &memory, &std::pair<const BoardMemory*, size_t>::first);
    if (found != pieces.end()) return found->second++;
    pieces.emplace_back(&memory, 0);
    add_guard(memory, pieces.back().second++);
    return pieces.back().second++;
  }

  void add_guard(const BoardMemory& memory, size_t piece) {
    guards.push_back(fmt::format("guard{}", guards.size()));
    definitions += fmt::format("{}\nuint8_t {}[kGuardBytes];\n", placed(memory, piece, "guard"), guards.back());
  }

  void add_region(const RegionFacts& region, const BoardMemory& memory) {
    const std::string name = fmt::format("region{}", regions.size() + 1);
    const size_t piece = next_piece(memory);
    definitions += fmt::format("{}\nuint8_t {}[{}];\n", placed(memory, piece, "region"), name,
                               std::max<uint32_t>(region.bytes, 16));
    add_guard(memory, next_piece(memory));
    regions.push_back(fmt::format("{{{}, {}}}", name, region.bytes));
  }
};

}  // namespace

std::string linker_script(const Board& board, const std::string& sections) {
  std::string text = "MEMORY\n{\n";
  for (const BoardMemory& memory : board.memories) {
    text +=
        fmt::format("  {} : ORIGIN = {:#x}, LENGTH = {:#x}\n", linker_name(board, memory), memory.base, memory.bytes);
  }
  text += "}\n";
  if (&board.vectors() == &board.flash()) text += "REGION_ALIAS(\"VECTORS\", FLASH)\n";
  text += fmt::format("STACK_BYTES = {};\n__records_start = {:#x};\n", board.stack_bytes, board.records_base);
  return text + sections + memory_sections(board) + "__free_start = ALIGN(ADDR(.memory." + board.ram().name +
         ") + SIZEOF(.memory." + board.ram().name + "), 16);\n__free_end = ORIGIN(RAM) + LENGTH(RAM);\n";
}

std::string instance_source(const ImageFacts& facts, const Board& board, const std::string& model_symbol) {
  Source source;
  for (const RegionFacts& region : facts.regions) source.add_region(region, memory_of(region, board));
  return fmt::format(
      "// The memory of one instance of the model, made by rushlight build.\n"
      "#include \"instance.h\"\n#include \"model.h\"\n\nnamespace {{\n\n"
      "__attribute__((aligned(8))) uint8_t context[RUSH_CONTEXT_BYTES({})];\n{}"
      "const rush_memory memories[] = {{{}}};\nuint8_t* const guards[] = {{{}}};\n\n}}  // namespace\n\n"
      "extern \"C\" const Instance rush_instance = {{&{}, reinterpret_cast<rush_context*>(context), sizeof context,\n"
      "                                           memories, {}, guards, {}, {}, {}}};\n",
      facts.max_chain_steps, source.definitions, fmt::join(source.regions, ", "), fmt::join(source.guards, ", "),
      model_symbol, source.regions.size(), source.guards.size(), facts.init_entry(), board.core_hz);
}

}  // namespace rush::firmware
