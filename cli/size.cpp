// SPDX-License-Identifier: Apache-2.0
//
// rushlight size DIR: every byte of a firmware, by what it is part of: from the linker's map and the image.
#include "compiler/firmware/size.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/board_argument.h"
#include "cli/commands.h"
#include "compiler/firmware/process.h"
#include "compiler/report/report.h"

namespace rush {
namespace {

void print_row(const char* name, uint32_t bytes, const std::string& what) {
  fmt::print("  {:<12} {:>9}  {}\n", name, bytes, what);
}

void print_part(const std::string& name, uint32_t bytes, const std::string& what = "") {
  fmt::print("    {:<40} {:>9}{}{}\n", name, bytes, what.empty() ? "" : "  ", what);
}

std::string parts_of(const LayerAccount& layer) {
  std::string text = fmt::format("constants {}, steps {}", layer.constant_bytes, layer.step_bytes);
  if (layer.padding_bytes > 0) text += fmt::format(", padding of weights {}", layer.padding_bytes);
  if (layer.shared_bytes > 0) text += fmt::format("; shares {} of earlier layers", layer.shared_bytes);
  return text;
}

void print_model(const firmware::ModelSize& model) {
  print_row("image", model.image_bytes, model.name + ", by layer and by section");
  for (const LayerAccount& layer : model.account.layers) print_part(layer.layer, layer.bytes(), parts_of(layer));
  for (const auto& [name, bytes] : model.account.sections) print_part("(" + name + ")", bytes);
}

void print_report(const firmware::SizeReport& size) {
  fmt::print("flash {:>17} bytes\n", size.flash_bytes);
  for (const firmware::ModelSize& model : size.models) print_model(model);
  print_row("tables", size.table_bytes, "of kernels and memory");
  print_row("kernels", size.kernel_bytes, "only those that the model uses");
  for (const auto& [name, bytes] : size.kernels) print_part(name, bytes);
  print_row("core", size.core_bytes, "open, verify, run");
  print_row("start-up", size.startup_bytes, "reset");
  print_row("vectors", size.vector_bytes, "");
  print_row("library", size.library_bytes, "of the compiler and the C library");
  for (const auto& [name, bytes] : size.library) print_part(name, bytes);
  print_row("padding", size.padding_bytes, "between functions, for their alignment");
  fmt::print("RAM {:>19} bytes\n", size.ram_bytes);
  print_row("regions", size.region_bytes, "tensors, scratch, state");
  print_row("statics", size.static_bytes, "context, data, bss");
  print_row("stack", size.stack_bytes, fmt::format("proven: {}", fmt::join(size.stack_path, " > ")));
  fmt::print("not counted: {} bytes of test harness\n", size.harness_bytes);
}

/// Whether there is no firmware, or only one of an older image.
bool needs_build(const std::filesystem::path& directory) {
  const auto elf = directory / "firmware.elf";
  return !std::filesystem::exists(elf) ||
         std::ranges::any_of(firmware::models_in(directory), [&](const firmware::FolderModel& model) {
           return !std::filesystem::exists(model.image) ||
                  std::filesystem::last_write_time(elf) < std::filesystem::last_write_time(model.image);
         });
}

/// The page that compile wrote learns what the firmware takes.
void update_page(const std::filesystem::path& directory, const firmware::SizeReport& size) {
  const auto report = directory / "report.json";
  if (std::filesystem::exists(directory / "report.html"))
    firmware::write_file(directory / "report.html",
                         report_page(firmware::read_file(report), firmware::size_json(size)));
}

}  // namespace

void add_size_command(CLI::App& app) {
  struct Options {
    std::string directory;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("size", "Every byte of flash by layer, kernel and core; RAM; stack");
  command->footer("Example: rushlight size out --json");
  command->add_option("DIR", options->directory, "A folder made by compile")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    if (needs_build(options->directory)) firmware::build_firmware(folder_request(options->directory, {}));
    const firmware::SizeReport size = firmware::measure_firmware(options->directory);
    update_page(options->directory, size);
    if (options->json) {
      fmt::print("{}\n", firmware::size_json(size));
    } else {
      print_report(size);
    }
  });
}

}  // namespace rush
