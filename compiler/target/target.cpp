// SPDX-License-Identifier: Apache-2.0
//
// Loads the descriptions of cores and boards from the data root.
#include "compiler/target/target.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/ir/diagnostic.h"
#include "compiler/target/description.h"

#ifndef RUSH_SOURCE_DIR
#define RUSH_SOURCE_DIR ""  // installed, and found beside this code only
#endif

namespace rush {
namespace fs = std::filesystem;
namespace {

std::string read_text(const fs::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Isa parse_isa(const Description& d) {
  const std::string text = d.text("isa");
  if (text == "scalar") return Isa::kScalar;
  if (text == "dsp") return Isa::kDsp;
  if (text == "mve") return Isa::kMve;
  d.fail("isa", fmt::format("\"{}\" is none of scalar, dsp, mve", text));
}

Pairing parse_pairing(const Description& d) {
  const std::string text = d.text("pairing");
  if (text == "none") return Pairing::kNone;
  if (text == "narrow") return Pairing::kNarrow;
  if (text == "any") return Pairing::kAny;
  d.fail("pairing", fmt::format("\"{}\" is none of none, narrow, any", text));
}

Pipeline parse_pipeline(const Description& d) {
  const auto cycles = [&](const char* key) { return static_cast<int>(d.integer_or(key, 0)); };
  Pipeline p;
  p.pairing = parse_pairing(d);
  p.loads_per_cycle = static_cast<int>(d.integer_or("loads_per_cycle", 1));
  p.branch_taken = cycles("branch_taken");
  p.branch_indirect = cycles("branch_indirect");
  p.mispredict = cycles("mispredict");
  p.words_per_cycle = static_cast<int>(d.integer_or("words_per_cycle", 1));
  p.store_data_delay = cycles("store_data_delay");
  p.pipelined_loads = d.flag_or("pipelined_loads", false);
  const Description costs = d.table("costs");
  for (const std::string& key : costs.keys()) {
    const std::vector<int> cycles_of_class = costs.integers(key);
    if (cycles_of_class.size() < 2 || cycles_of_class.size() > 3) d.fail(key, "[busy, latency] is needed");
    p.costs[key] = {cycles_of_class[0], cycles_of_class[1], cycles_of_class.size() == 3 ? cycles_of_class[2] : 0};
  }
  return p;
}

BoardMemory::Kind parse_kind(const Description& d) {
  const std::string text = d.text("kind");
  if (text == "vectors") return BoardMemory::Kind::kVectors;
  if (text == "flash") return BoardMemory::Kind::kFlash;
  if (text == "ram") return BoardMemory::Kind::kRam;
  d.fail("kind", fmt::format("\"{}\" is none of vectors, flash, ram", text));
}

BoardMemory parse_memory(const Description& d) {
  return {d.text("name"), parse_kind(d), static_cast<uint64_t>(d.integer("base")), d.size("size")};
}

const BoardMemory* find_memory(const Board& board, BoardMemory::Kind kind) {
  const auto found = std::ranges::find(board.memories, kind, &BoardMemory::kind);
  return found == board.memories.end() ? nullptr : &*found;
}

bool is_root(const fs::path& path) { return !path.empty() && fs::is_directory(path / "targets"); }

/// Where this code was loaded from: the shared object of the Python module, or the executable.
fs::path own_directory() {
  Dl_info unused;
  link_map* object = nullptr;
  if (dladdr1(reinterpret_cast<void*>(&is_root), &unused, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) &&
      object->l_name[0] != '\0')  // the executable's has no name
    return fs::absolute(object->l_name).parent_path();
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::path() : self.parent_path();
}

/// PREFIX/share/rushlight of the prefix that this code is installed under, be it in bin/ or in site-packages/.
fs::path installed_root() {
  for (fs::path prefix = own_directory(); prefix.has_relative_path(); prefix = prefix.parent_path()) {
    if (is_root(prefix / "share/rushlight")) return prefix / "share/rushlight";
  }
  return {};
}

[[noreturn]] void unknown(const std::string& what, const std::string& name, const std::vector<std::string>& known) {
  throw UserError(fmt::format("unknown {} \"{}\"", what, name), fmt::format("use one of {}", fmt::join(known, ", ")));
}

}  // namespace

const BoardMemory& Board::flash() const { return *find_memory(*this, BoardMemory::Kind::kFlash); }
const BoardMemory& Board::ram() const { return *find_memory(*this, BoardMemory::Kind::kRam); }

const BoardMemory& Board::vectors() const {
  const BoardMemory* vectors = find_memory(*this, BoardMemory::Kind::kVectors);
  return vectors ? *vectors : flash();
}

bool Board::runs(const Target& target) const { return std::ranges::count(cores, target.core) > 0; }

fs::path data_root() {
  const char* home = std::getenv("RUSHLIGHT_HOME");
  if (home && !is_root(home)) {
    throw UserError(fmt::format("RUSHLIGHT_HOME is \"{}\", which has no directory \"targets\"", home),
                    "set it to Rushlight's source tree or share/rushlight directory, or unset it");
  }
  const fs::path candidates[] = {home ? home : "", installed_root(), RUSH_SOURCE_DIR};
  for (const fs::path& path : candidates) {
    if (is_root(path)) return fs::canonical(path);
  }
  throw UserError("Rushlight's targets, boards and runtime sources are not found",
                  "set RUSHLIGHT_HOME to Rushlight's source tree or share/rushlight directory");
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(data_root() / "targets")) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> board_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(data_root() / "boards")) {
    if (fs::exists(entry.path() / "board.toml")) names.push_back(entry.path().filename());
  }
  std::ranges::sort(names);
  return names;
}

Target load_target(const std::string& name) {
  const std::vector<std::string> names = target_names();
  if (!std::ranges::count(names, name)) unknown("target", name, names);
  const fs::path file = data_root() / "targets" / (name + ".toml");
  return parse_target(read_text(file), file.string());
}

Board load_board(const std::string& name) {
  const std::vector<std::string> names = board_names();
  if (!std::ranges::count(names, name)) unknown("board", name, names);
  const fs::path file = data_root() / "boards" / name / "board.toml";
  return parse_board(read_text(file), file.string());
}

namespace {

ChipMemory parse_chip_memory(const Description& d) {
  const std::string kind = d.text("kind");
  if (kind != "ram" && kind != "flash") d.fail("kind", fmt::format("\"{}\" is none of ram, flash", kind));
  ChipMemory memory{.name = d.text("name"),
                    .is_flash = kind == "flash",
                    .bytes = d.size("size"),
                    .read_cycles = d.number("read_cycles"),
                    .write_cycles = kind == "flash" ? 0 : d.number("write_cycles"),
                    .cached = d.flag_or("cached", false),
                    .section = d.text("section")};
  const bool reserves = std::ranges::count(d.keys(), "reserved") > 0;
  const uint64_t reserved = reserves ? d.size("reserved") : 0;
  if (reserved > memory.bytes) d.fail("reserved", "more than the memory has");
  memory.bytes -= reserved;
  return memory;
}

/// A chip is its core, but for what it says itself.
Target parse_chip(const Description& d) {
  Target chip = load_target(d.text("core"));
  chip.core = chip.name;
  chip.name = d.text("name");
  chip.description = d.text("description");
  chip.mhz = d.number("mhz");
  chip.cache_bytes = d.size("data_cache");
  chip.flash_bytes = chip.ram_bytes = 0;
  for (const Description& memory : d.tables("memory")) {
    chip.memories.push_back(parse_chip_memory(memory));
    (chip.memories.back().is_flash ? chip.flash_bytes : chip.ram_bytes) += chip.memories.back().bytes;
  }
  if (std::ranges::count(chip.memories, true, &ChipMemory::is_flash) != 1)
    d.fail("memory", "a chip needs one flash, where images lie");
  if (chip.ram_bytes == 0) d.fail("memory", "a chip needs RAM");
  return chip;
}

}  // namespace

Target parse_target(const std::string& toml_text, const std::string& file) {
  const Description d = Description::parse(toml_text, file);
  if (std::ranges::count(d.keys(), "core") > 0) return parse_chip(d);
  const Description limits = d.table("limits");
  return {.name = d.text("name"),
          .core = d.text("name"),
          .description = d.text("description"),
          .isa = parse_isa(d),
          .mhz = d.number("mhz"),
          .macs_per_cycle = d.number("macs_per_cycle"),
          .gcc_flags = d.texts("gcc_flags"),
          .clang_flags = d.texts("clang_flags"),
          .board = d.text("board"),
          .flash_bytes = limits.size("flash"),
          .ram_bytes = limits.size("ram"),
          .memories = {},
          .cache_bytes = 0,
          .pipeline = parse_pipeline(d.table("pipeline"))};
}

Board parse_board(const std::string& toml_text, const std::string& file) {
  const Description d = Description::parse(toml_text, file);
  const Description records = d.table("records");
  Board board{.name = d.text("name"),
              .description = d.text("description"),
              .cores = d.texts("cores"),
              .qemu_machine = d.table("qemu").text("machine"),
              .qemu_cpu = d.table("qemu").text("cpu"),
              .core_hz = static_cast<uint32_t>(d.table("qemu").integer("core_hz")),
              .stack_bytes = d.size("stack"),
              .records_base = static_cast<uint64_t>(records.integer("base")),
              .records_bytes = records.size("size"),
              .memories = {}};
  for (const Description& memory : d.tables("memory")) board.memories.push_back(parse_memory(memory));
  for (const auto kind : {BoardMemory::Kind::kFlash, BoardMemory::Kind::kRam}) {
    if (!find_memory(board, kind)) d.fail("memory", "a board needs a flash and a ram memory");
  }
  return board;
}

void require_runs(const Board& board, const Target& target) {
  if (board.runs(target)) return;
  std::vector<std::string> others;
  for (const std::string& name : board_names()) {
    if (load_board(name).runs(target)) others.push_back(name);
  }
  throw UserError(fmt::format("board {} does not run code for {}", board.name, target.name),
                  fmt::format("use one of {}", fmt::join(others, ", ")));
}

}  // namespace rush
