// SPDX-License-Identifier: Apache-2.0
//
// Objects are named <part>.<name>.o (objects.h), so the map alone says what each byte is part of.
#include "compiler/firmware/size.h"

#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/firmware/build.h"
#include "compiler/firmware/emulator.h"
#include "compiler/firmware/process.h"
#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace fs = std::filesystem;
namespace {

/// "vectors", "startup", "core", ..., "library", or "padding" for the linker's fill.
std::string part_of(const MapSection& section) {
  if (section.object.empty()) return "padding";
  if (section.output == ".vectors") return "vectors";
  const std::string file = fs::path(section.object).filename().string();
  for (const Part part : {Part::kStartup, Part::kCore, Part::kKernel, Part::kModel, Part::kMemory, Part::kHarness}) {
    if (file.starts_with(std::string(name_of(part)) + ".")) return std::string(name_of(part));
  }
  return "library";
}

std::string source_of(const MapSection& section) {
  const std::string stem = fs::path(section.object).stem().string();  // "kernel.clamp_scalar"
  return stem.substr(stem.find('.') + 1);
}

/// "libc memcpy" of "/usr/lib/libc.a(lib_a-memcpy.o)".
std::string member_of(const MapSection& section) {
  static const std::regex kMember(R"(([^/]+)\.a\((?:libc?_a-)?(.+)\.o\)$)");
  std::smatch match;
  return std::regex_search(section.object, match, kMember) ? match[1].str() + " " + match[2].str() : section.object;
}

bool is_guard(const MapSection& section) { return section.input.ends_with(".guard"); }

bool in_flash(const std::string& output) {
  return output == ".vectors" || output == ".text" || output == ".ARM.exidx" || output == ".data" ||
         output == ".init_array";
}

bool in_ram(const std::string& output) {
  return output == ".data" || output == ".bss" || output.starts_with(".memory.");
}

uint32_t& flash_field(SizeReport& report, const std::string& part) {
  if (part == "vectors") return report.vector_bytes;
  if (part == "startup") return report.startup_bytes;
  if (part == "core") return report.core_bytes;
  if (part == "kernel") return report.kernel_bytes;
  if (part == "model" || part == "memory") return report.model_bytes;
  if (part == "library") return report.library_bytes;
  return part == "harness" ? report.harness_bytes : report.padding_bytes;
}

void add_flash(SizeReport& report, const MapSection& section, const std::string& part) {
  flash_field(report, part) += section.bytes;
  if (part != "harness") report.flash_bytes += section.bytes;
  if (part == "kernel") report.kernels[source_of(section)] += section.bytes;
  if (part == "library") report.library[member_of(section)] += section.bytes;
  if (part == "kernel" || part == "core") report.functions[section.input] += section.bytes;
}

void add_ram(SizeReport& report, const MapSection& section, const std::string& part) {
  if (part == "harness" || part == "padding" || is_guard(section)) return;
  const bool region = section.output.starts_with(".memory.");
  (region ? report.region_bytes : report.static_bytes) += section.bytes;
  report.ram_bytes += section.bytes;
}

/// What users call, and what stands behind the core's indirect calls: rush_open asks extents functions, the run
/// calls kernels.
StackQuestion stack_question(const std::vector<MapSection>& map, const Disassembly& code) {
  std::set<std::string> openers, runners, extents, kernels;
  for (const MapSection& section : map) {
    const std::string part = part_of(section);
    const Function* function = code.function_at(section.address);
    if (section.output != ".text" || !function || function->begin != section.address) continue;
    const std::string source = source_of(section);
    if (part == "core") (source == "open" ? openers : runners).insert(function->name);
    if (part == "kernel") (source.ends_with("_extents") ? extents : kernels).insert(function->name);
  }
  StackQuestion question{{"rush_open", "rush_run", "rush_begin", "rush_step"}, {}};
  for (const std::string& name : openers) question.indirect_calls[name] = extents;
  for (const std::string& name : runners) question.indirect_calls[name] = kernels;
  return question;
}

std::vector<std::string> dynamic_kernels(const std::vector<MapSection>& map) {
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const MapSection& section : map) {
    const std::string part = part_of(section);
    if ((part != "core" && part != "kernel") || !seen.insert(section.object).second) continue;
    const fs::path usage = fs::path(section.object).replace_extension(".su");
    if (!fs::exists(usage)) continue;
    for (const std::string& name : dynamic_frames(read_file(usage)))
      found.push_back(name + " has a frame of unknown size");
  }
  return found;
}

void add_stack(SizeReport& report, const std::vector<MapSection>& map, const Disassembly& code) {
  StackBound bound = bound_stack(read_frames(code), stack_question(map, code));
  const std::vector<std::string> dynamic = dynamic_kernels(map);
  bound.faults.insert(bound.faults.end(), dynamic.begin(), dynamic.end());
  internal_check(bound.faults.empty(), fmt::format("the stack has no bound: {}", fmt::join(bound.faults, "; ")));
  report.stack_bytes = bound.bytes;
  report.stack_path = bound.path;
  report.ram_bytes += bound.bytes;
}

/// Reads an image twice: what it takes, and what it promises of the stack.
void add_model(SizeReport& report, const std::string& name, const fs::path& file) {
  const std::string bytes = read_file(file);
  const ImageReader image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, file.string());
  report.models.push_back({name, static_cast<uint32_t>(image.bytes().size()), account_for(image)});
  report.declared_stack_bytes = std::max(report.declared_stack_bytes, image.header().stack_bytes);
}

}  // namespace

SizeReport measure_map(const std::vector<MapSection>& map) {
  SizeReport report;
  for (const MapSection& section : map) {
    const std::string part = part_of(section);
    if (in_flash(section.output)) add_flash(report, section, part);
    if (in_ram(section.output)) add_ram(report, section, part);
  }
  return report;
}

SizeReport measure_firmware(const fs::path& directory) {
  const auto map = parse_linker_map(read_file(directory / "firmware.map"));
  SizeReport report = measure_map(map);
  for (const FolderModel& model : models_in(directory)) add_model(report, model.symbol, model.image);
  report.table_bytes = report.model_bytes;
  for (const ModelSize& model : report.models) report.table_bytes -= model.image_bytes;
  add_stack(report, map, disassemble(directory / "firmware.elf", target_of(directory).isa));
  internal_check(report.stack_bytes <= report.declared_stack_bytes,
                 fmt::format("the stack can reach {} bytes, more than the {} that the image declares: {}",
                             report.stack_bytes, report.declared_stack_bytes, fmt::join(report.stack_path, " > ")));
  return report;
}

}  // namespace rush::firmware
