// SPDX-License-Identifier: Apache-2.0
//
// Collects the sources of a firmware, compiles them through the object cache and links them.
#include "compiler/firmware/build.h"

#include <algorithm>
#include <regex>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/firmware/layout.h"
#include "compiler/firmware/process.h"
#include "compiler/ir/diagnostic.h"
#include "ops/op_def.h"

namespace rush::firmware {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> files_ending(const fs::path& directory, const std::string& ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<Source> core_sources() {
  std::vector<Source> sources;
  for (const fs::path& path : files_ending(data_root() / "runtime/src", ".cpp")) {
    if (!path.stem().string().ends_with("_test")) sources.push_back({Part::kCore, path.stem().string(), path, {}});
  }
  return sources;
}

Source board_source(Part part, const std::string& name) {
  return {part, name, data_root() / "boards" / (name + ".cpp"), {data_root() / "boards", data_root() / "runtime/src"}};
}

void append(std::vector<Source>& to, std::vector<Source> from) { std::ranges::move(from, std::back_inserter(to)); }

std::vector<Source> common_sources() {
  std::vector<Source> sources = core_sources();
  sources.push_back(board_source(Part::kStartup, "startup"));
  sources.push_back(board_source(Part::kHarness, "semihosting"));
  sources.push_back(board_source(Part::kHarness, "checks"));
  return sources;
}

/// Writes the file only if its content changes.
void keep_or_write(const fs::path& path, const std::string& text) {
  if (!fs::exists(path) || read_file(path) != text) write_file(path, text);
}

struct Link {
  fs::path directory;
  std::string name;
  const Target& target;
  const Board& board;
  Compiler compiler;
};

std::vector<std::string> link_command(const Link& link, const std::vector<Object>& objects, const fs::path& script) {
  std::vector<std::string> command = {find_tool("arm-none-eabi-gcc")};
  command.insert(command.end(), link.target.gcc_flags.begin(), link.target.gcc_flags.end());
  command.insert(command.end(), {"-nostartfiles", "-static", "-Wl,--gc-sections", "-Wl,--no-enum-size-warning",
                                 "-Wl,-z,noexecstack", "-Wl,--no-warn-rwx-segments", "-T", script.string()});
  for (const Object& object : objects) command.push_back(object.path.string());
  return command;
}

/// What the linker says when a memory is too small, for the user: "region `RAM' overflowed by 4096 bytes".
[[noreturn]] void explain_link_failure(const Link& link, const std::string& output) {
  static const std::regex kOverflow("region `(\\w+)' overflowed by (\\d+) bytes");
  std::smatch match;
  if (!std::regex_search(output, match, kOverflow)) throw InternalError("the firmware does not link:\n" + output);
  throw UserError(fmt::format("the firmware does not fit {}: its {} is {} bytes too small", link.board.name,
                              match[1].str() == "FLASH" ? "flash" : match[1].str(), match[2].str()),
                  "use a board with more memory, or a smaller model");
}

std::string stamp_of(const std::vector<std::string>& command, const std::string& script) {
  std::string text = script;
  for (const std::string& word : command) text += word + '\n';  // object paths contain their keys
  return hash_text(text);
}

Built link_firmware(const Link& link, const std::vector<Object>& objects) {
  const fs::path base = link.directory / link.name;
  const fs::path elf = base.string() + ".elf";
  const fs::path script = base.string() + ".ld";
  const fs::path stamp = base.string() + ".stamp";
  const std::string text = linker_script(link.board, read_file(data_root() / "boards/sections.ld"));
  keep_or_write(script, text);
  std::vector<std::string> command = link_command(link, objects, script);
  const std::string wanted = stamp_of(command, text);
  if (fs::exists(elf) && fs::exists(stamp) && read_file(stamp) == wanted) return {elf, false};
  const std::string partial = elf.string() + fmt::format(".{}.partial", process_id());
  command.insert(command.end(), {"-Wl,-Map=" + base.string() + ".map", "-o", partial});
  const Finished finished = run({command, {}, 600});
  if (!finished.ok()) explain_link_failure(link, finished.output);
  fs::rename(partial, elf);
  write_file(stamp, wanted);
  return {elf, true};
}

void require_class(const ImageFacts& facts, const BuildRequest& request) {
  if (facts.isa == request.target.isa) return;
  throw UserError(
      fmt::format("{} holds an image for the {} class of cores, and {} is of the {} class", request.directory.string(),
                  isa_name(facts.isa), request.target.name, isa_name(request.target.isa)),
      fmt::format("compile the model with --target {}", request.target.name));
}

ImageFacts facts_of(const fs::path& file) {
  const std::string image = read_file(file);
  return read_image_facts({reinterpret_cast<const uint8_t*>(image.data()), image.size()}, file.string());
}

std::vector<NamedModel> named_models(const BuildRequest& request) {
  std::vector<NamedModel> models;
  for (const FolderModel& model : models_in(request.directory)) {
    models.push_back({model.symbol, facts_of(model.image)});
    require_class(models.back().facts, request);
  }
  return models;
}

/// Kernels that any of the models uses, each once.
std::vector<uint16_t> kernels_of(const std::vector<NamedModel>& models) {
  std::set<uint16_t> ids;
  for (const NamedModel& model : models) ids.insert(model.facts.kernels.begin(), model.facts.kernels.end());
  return {ids.begin(), ids.end()};
}

Source instance(const BuildRequest& request, const std::vector<NamedModel>& models) {
  const fs::path path = request.directory / "instance.cpp";
  keep_or_write(path, instance_source(models, request.board));
  return {Part::kMemory, "instance", path, {request.directory, data_root() / "boards"}};
}

nlohmann::json report_of(const fs::path& directory) {
  const fs::path path = directory / "report.json";
  auto report = nlohmann::json::parse(fs::exists(path) ? read_file(path) : "", nullptr, false);
  return report.is_object() ? report : nlohmann::json::object();
}

}  // namespace

std::vector<Source> kernel_sources(std::span<const uint16_t> ids, Isa isa) {
  std::set<std::pair<std::string, std::string>> wanted;  // folder, file ending
  for (const uint16_t id : ids) {
    const KernelFamily* family = find_kernel_family(id);
    internal_check(family != nullptr, fmt::format("the image names kernel {}, which does not exist", id));
    const std::string folder(family->op);
    const std::string_view variant = family->variant[static_cast<size_t>(isa)];
    wanted.insert({folder, fmt::format("_{}.cpp", variant)});
    if (uses_assembly()) wanted.insert({folder, fmt::format("_{}_asm.S", variant)});
    wanted.insert({folder, "_extents.cpp"});
  }
  std::vector<Source> sources;
  for (const auto& [folder, ending] : wanted) {
    for (const fs::path& path : files_ending(data_root() / "ops" / folder, ending)) {
      sources.push_back({Part::kKernel, path.stem().string(), path, {data_root() / "ops"}});
    }
  }
  return sources;
}

namespace {

/// The firmware of a folder around boards/<main>.cpp, as DIR/<name>.elf.
Built build_around(const BuildRequest& request, const std::string& main, const std::string& name) {
  require_runs(request.board, request.target);
  const std::vector<NamedModel> models = named_models(request);
  std::vector<Source> sources = common_sources();
  append(sources, kernel_sources(kernels_of(models), request.target.isa));
  if (request.opt == Opt::kSize) sources.push_back(board_source(Part::kStartup, "small_library"));
  sources.push_back(board_source(Part::kHarness, "session"));
  sources.push_back(board_source(Part::kHarness, main));
  sources.push_back(instance(request, models));
  for (const NamedModel& model : models)
    sources.push_back({Part::kModel,
                       model.symbol,
                       request.directory / (model.symbol + ".cpp"),
                       {request.directory, data_root() / "ops"}});
  const std::vector<Object> objects = compile_objects(sources, {request.target, request.compiler, request.opt});
  return link_firmware({request.directory, name, request.target, request.board, request.compiler}, objects);
}

}  // namespace

Built build_firmware(const BuildRequest& request) { return build_around(request, "harness", "firmware"); }

Built build_inspector(const BuildRequest& request) { return build_around(request, "inspector", "inspector"); }

std::vector<FolderModel> models_in(const fs::path& directory) {
  const nlohmann::json report = report_of(directory);
  if (!report.contains("models")) return {{report.value("symbol", "model"), directory / "model.rush"}};
  std::vector<FolderModel> models;
  for (const auto& model : report["models"]) {
    const auto name = model.at("name").get<std::string>();
    models.push_back({name, directory / (name + ".rush")});
  }
  return models;
}

Opt opt_of(const fs::path& directory) {
  return parse_opt(report_of(directory).value("opt", "balanced")).value_or(Opt::kBalanced);
}

Target target_of(const fs::path& directory) {
  const auto report = report_of(directory);
  if (!report.contains("target") || !report["target"].is_string()) {
    throw UserError(fmt::format("{} does not say its target", (directory / "report.json").string()),
                    "compile the model again: rushlight compile MODEL.pt2 --target NAME -o DIR");
  }
  return load_target(report["target"].get<std::string>());
}

Built build_player(const Target& target, const Board& board, Compiler compiler) {
  require_runs(board, target);
  std::vector<uint16_t> all;
  for (const KernelFamily& family : all_kernel_families()) all.push_back(family.id);
  std::vector<Source> sources = common_sources();
  append(sources, kernel_sources(all, target.isa));
  const std::string table = fmt::format("full_table_{}", isa_name(target.isa));
  sources.push_back({Part::kKernel, table, data_root() / "ops" / (table + ".cpp"), {data_root() / "ops"}});
  sources.push_back(board_source(Part::kHarness, "player"));
  const fs::path directory = cache_directory() / "players" / board.name;
  fs::create_directories(directory);
  const std::string name = fmt::format("{}-{}", target.name, name_of(compiler));
  return link_firmware({directory, name, target, board, compiler},
                       compile_objects(sources, {target, compiler, Opt::kBalanced}));
}

}  // namespace rush::firmware
