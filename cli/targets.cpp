// SPDX-License-Identifier: Apache-2.0
//
// rushlight targets [NAME]: the cores that can be compiled for and the boards that run their code.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "compiler/target/target.h"
#include "ops/op_def.h"

namespace rush {
namespace {

nlohmann::ordered_json memories_json(const Target& target) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const ChipMemory& memory : target.memories)
    out.push_back({{"name", memory.name},
                   {"kind", memory.is_flash ? "flash" : "ram"},
                   {"bytes", memory.bytes},
                   {"read_cycles", memory.read_cycles},
                   {"write_cycles", memory.write_cycles},
                   {"cached", memory.cached},
                   {"section", memory.section}});
  return out;
}

nlohmann::ordered_json to_json(const Target& target) {
  return {{"name", target.name},
          {"description", target.description},
          {"isa", isa_name(target.isa)},
          {"mhz", target.mhz},
          {"macs_per_cycle", target.macs_per_cycle},
          {"board", target.board},
          {"gcc_flags", target.gcc_flags},
          {"clang_flags", target.clang_flags},
          {"flash_bytes", target.flash_bytes},
          {"ram_bytes", target.ram_bytes},
          {"core", target.core},
          {"data_cache_bytes", target.cache_bytes},
          {"memories", memories_json(target)}};
}

void print_target(const Target& target) {
  fmt::print("{}: {}\n", target.name, target.description);
  fmt::print("  kernels      {}\n  clock        {} MHz\n  board        {}\n", isa_name(target.isa), target.mhz,
             target.board);
  fmt::print("  flash, RAM   {} KiB, {} KiB at most\n", target.flash_bytes / 1024, target.ram_bytes / 1024);
  for (const ChipMemory& memory : target.memories)
    fmt::print("  {:<12} {} KiB {}, 32 bytes read in {} cycles more than from tightly coupled memory{}\n", memory.name,
               memory.bytes / 1024, memory.is_flash ? "flash" : "RAM", memory.read_cycles,
               memory.cached ? ", cached" : "");
  fmt::print("  GCC          {}\n  Clang        {}\n", fmt::join(target.gcc_flags, " "),
             fmt::join(target.clang_flags, " "));
}

void print_all() {
  fmt::print("{:<18} {:<7} {:>5}  {:<13} {}\n", "target", "kernels", "MHz", "board", "core");
  for (const std::string& name : target_names()) {
    const Target target = load_target(name);
    fmt::print("{:<18} {:<7} {:>5}  {:<13} {}\n", name, isa_name(target.isa), target.mhz, target.board,
               target.description);
  }
  fmt::print("\n{:<18} {}\n", "board", "cores");
  for (const std::string& name : board_names())
    fmt::print("{:<18} {}\n", name, fmt::join(load_board(name).cores, ", "));
}

void print_json(const std::string& name) {
  if (!name.empty()) {
    fmt::print("{}\n", to_json(load_target(name)).dump(2));
    return;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& each : target_names()) all.push_back(to_json(load_target(each)));
  fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_targets_command(CLI::App& app) {
  struct Options {
    std::string name;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("targets", "List the cores and boards, or show one core");
  command->footer("Example: rushlight targets cortex-m55");
  command->add_option("NAME", options->name, "A core, e.g. cortex-m4");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    if (options->json) return print_json(options->name);
    if (options->name.empty()) return print_all();
    print_target(load_target(options->name));
  });
}

}  // namespace rush
