// SPDX-License-Identifier: Apache-2.0
//
// Regions and guards are separate sections, numbered in the order in which they lie, so that the linker map tells the
// model's memory (product) from the guard bands (harness).
#include "compiler/firmware/layout.h"

#include <algorithm>
#include <map>

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

bool is_named_as(const MemoryPlan::Piece& piece, const BoardMemory& memory) {
  return piece.region == memory.name || piece.region.ends_with("_" + memory.name);  // "arena_dtcm"
}

/// A board's memory may be smaller than that of the chip which it stands for.
class MemoryChooser {
 public:
  explicit MemoryChooser(const Board& board) : board_(board) {}

  const BoardMemory& memory_of(const MemoryPlan::Piece& piece) {
    constexpr uint64_t kGuards = 256;  // a guard in front and one behind, and the alignment of all three
    for (const BoardMemory& memory : board_.memories) {
      if (memory.kind != BoardMemory::Kind::kRam || !is_named_as(piece, memory)) continue;
      uint64_t& used = used_[memory.name];
      if (used + piece.bytes + kGuards > memory.bytes) continue;
      used += piece.bytes + kGuards;
      return memory;
    }
    return board_.ram();
  }

 private:
  const Board& board_;
  std::map<std::string, uint64_t> used_;
};

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
  std::vector<std::string> models;
  size_t region_count = 0;
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

  void add_region(const MemoryPlan::Piece& region, const BoardMemory& memory) {
    const size_t piece = next_piece(memory);
    definitions += fmt::format("{}\nuint8_t region{}[{}];\n", placed(memory, piece, "region"), region_count++,
                               std::max<uint32_t>(region.bytes, 16));
    add_guard(memory, next_piece(memory));
  }

  /// `pieces`: where the model's regions lie.
  void add_model(const NamedModel& model, const std::vector<size_t>& pieces, uint32_t core_hz) {
    std::vector<std::string> memories;
    for (size_t r = 0; r < pieces.size(); ++r)
      memories.push_back(fmt::format("{{region{}, {}}}", pieces[r], model.facts.regions[r].bytes));
    definitions += fmt::format("__attribute__((aligned(8))) uint8_t context{}[RUSH_CONTEXT_BYTES({})];\n",
                               models.size(), model.facts.max_chain_steps);
    definitions += fmt::format("const rush_memory memories{}[] = {{{}}};\n", models.size(), fmt::join(memories, ", "));
    models.push_back(
        fmt::format("{{&{0}, reinterpret_cast<rush_context*>(context{1}), sizeof context{1}, memories{1}, "
                    "{2}, guards, {3}, {4}, {5}, {6}}}",
                    model.symbol, models.size(), pieces.size(), guards.size(), model.facts.init_entry(), core_hz,
                    model.facts.line_fed ? "checks::fed" : "rush_run"));
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

MemoryPlan share_memory(const std::vector<NamedModel>& models) {
  MemoryPlan plan;
  std::map<std::string, size_t> arenas;
  for (const NamedModel& model : models) {
    std::vector<size_t>& pieces = plan.pieces_of.emplace_back();
    for (const RegionFacts& region : model.facts.regions) {
      const size_t fresh = plan.pieces.size();
      const size_t piece =
          region.kind == RegionKind::kArena ? arenas.try_emplace(region.name, fresh).first->second : fresh;
      if (piece == fresh) plan.pieces.push_back({region.name, 0});
      plan.pieces[piece].bytes = std::max(plan.pieces[piece].bytes, region.bytes);
      pieces.push_back(piece);
    }
  }
  return plan;
}

std::string instance_source(const std::vector<NamedModel>& models, const Board& board) {
  const MemoryPlan plan = share_memory(models);
  Source source;
  std::string includes;
  MemoryChooser chooser(board);
  for (const MemoryPlan::Piece& piece : plan.pieces) source.add_region(piece, chooser.memory_of(piece));
  for (size_t i = 0; i < models.size(); ++i) {
    includes += fmt::format("#include \"{}.h\"\n", models[i].symbol);
    source.add_model(models[i], plan.pieces_of[i], board.core_hz);
  }
  return fmt::format(
      "// The models' memory, made by rushlight build.\n"
      "#include \"instance.h\"\n{}\nnamespace {{\n\n{}uint8_t* const guards[] = {{{}}};\n\n}}  // namespace\n\n"
      "extern \"C\" const Instance rush_instances[] = {{\n    {}}};\n"
      "extern \"C\" const uint32_t rush_instance_count = {};\n",
      includes, source.definitions, fmt::join(source.guards, ", "), fmt::join(source.models, ",\n    "), models.size());
}

}  // namespace rush::firmware
