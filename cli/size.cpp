// SPDX-License-Identifier: Apache-2.0
//
// rushlight size DIR: what a firmware occupies, by what it is part of, from the linker's map.
#include "compiler/firmware/size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/board_argument.h"
#include "cli/commands.h"

namespace rush {
namespace {

nlohmann::ordered_json to_json(const firmware::SizeReport& size) {
  return {{"flash_bytes", size.flash_bytes},     {"ram_bytes", size.ram_bytes},
          {"stack_bytes", size.stack_bytes},     {"declared_stack_bytes", size.declared_stack_bytes},
          {"core_bytes", size.core_bytes},       {"model_bytes", size.model_bytes},
          {"kernel_bytes", size.kernel_bytes},   {"startup_bytes", size.startup_bytes},
          {"library_bytes", size.library_bytes}, {"padding_bytes", size.padding_bytes},
          {"region_bytes", size.region_bytes},   {"static_bytes", size.static_bytes},
          {"harness_bytes", size.harness_bytes}, {"kernels", size.kernels},
          {"functions", size.functions},         {"stack_path", size.stack_path}};
}

void print_row(const char* name, uint32_t bytes, const char* what) {
  fmt::print("  {:<12} {:>9}  {}\n", name, bytes, what);
}

void print_report(const firmware::SizeReport& size) {
  fmt::print("flash {:>17} bytes\n", size.flash_bytes);
  print_row("model", size.model_bytes, "image and kernel table");
  print_row("kernels", size.kernel_bytes, "only those that the model uses");
  for (const auto& [name, bytes] : size.kernels) fmt::print("    {:<28} {:>7}\n", name, bytes);
  print_row("core", size.core_bytes, "open, verify, run");
  print_row("start-up", size.startup_bytes, "vectors, reset");
  print_row("library", size.library_bytes, "of the compiler and the C library");
  print_row("padding", size.padding_bytes, "");
  fmt::print("RAM {:>19} bytes\n", size.ram_bytes);
  print_row("regions", size.region_bytes, "tensors, scratch, state");
  print_row("statics", size.static_bytes, "context, data, bss");
  print_row("stack", size.stack_bytes, fmt::format("proven: {}", fmt::join(size.stack_path, " > ")).c_str());
  fmt::print("not counted: {} bytes of test harness\n", size.harness_bytes);
}

}  // namespace

void add_size_command(CLI::App& app) {
  struct Options {
    std::string directory;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("size", "Flash by kernel, weights and core; RAM; stack");
  command->footer("Example: rushlight size out --json");
  command->add_option("DIR", options->directory, "A folder made by compile")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    if (!std::filesystem::exists(std::filesystem::path(options->directory) / "firmware.elf")) {
      firmware::build_firmware(build_request(options->directory, "", "gcc"));
    }
    const firmware::SizeReport size = firmware::measure_firmware(options->directory);
    if (options->json) {
      fmt::print("{}\n", to_json(size).dump(2));
    } else {
      print_report(size);
    }
  });
}

}  // namespace rush
