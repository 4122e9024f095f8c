// SPDX-License-Identifier: Apache-2.0
#include "compiler/link/link.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "compiler/emit/sources.h"
#include "compiler/firmware/build.h"
#include "compiler/firmware/process.h"
#include "compiler/ir/diagnostic.h"

namespace rush {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

/// One input, read.
struct Model {
  std::string name;
  fs::path folder;
  std::vector<uint8_t> image;
  firmware::ImageFacts facts;
  std::string target;
  Opt opt = Opt::kBalanced;
};

/// "out/my-model/model.rush" or "out/my-model" -> "my_model".
std::string default_name(const fs::path& path) {
  const fs::path whole = fs::weakly_canonical(path);
  const bool is_folder = whole.extension() != ".rush";
  std::string name = is_folder ? whole.filename() : whole.stem();
  if (name == "model" && !is_folder) name = whole.parent_path().filename();
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

Model read_model(const LinkInput& input) {
  const bool is_image = input.path.extension() == ".rush";
  const fs::path image = is_image ? input.path : input.path / "model.rush";
  if (!fs::is_regular_file(image))
    throw UserError(fmt::format("{} is not a folder made by compile", input.path.string()),
                    "compile each model first: rushlight compile MODEL.pt2 -o DIR");
  const std::string bytes = firmware::read_file(image);
  Model model{.name = input.name.empty() ? default_name(input.path) : input.name,
              .folder = image.parent_path(),
              .image = {bytes.begin(), bytes.end()}};
  model.facts = firmware::read_image_facts(model.image, image.string());
  model.target = firmware::target_of(model.folder).name;
  model.opt = firmware::opt_of(model.folder);
  return model;
}

void check_names(const std::vector<Model>& models) {
  for (size_t i = 0; i < models.size(); ++i) {
    const std::string name = macro_name(models[i].name);  // macros are in capitals
    if (name == "MODELS")
      throw UserError("\"models\" is the name of what they all share", "name the model: NAME=DIR, e.g. first=models");
    for (size_t j = 0; j < i; ++j) {
      if (macro_name(models[j].name) == name)
        throw UserError(
            fmt::format("two models are called \"{}\": {} and {}", models[i].name, models[j].folder.string(),
                        models[i].folder.string()),
            fmt::format("name one of them: NAME=DIR, e.g. {}2={}", models[i].name, models[i].folder.string()));
    }
  }
}

void check_targets(const std::vector<Model>& models) {
  for (const Model& model : models) {
    if (model.target == models[0].target) continue;
    throw UserError(fmt::format("\"{}\" is compiled for {}, \"{}\" for {}", models[0].name, models[0].target,
                                model.name, model.target),
                    fmt::format("compile both with one --target, e.g. --target {}", models[0].target));
  }
}

/// Kernels are compiled for size only where all models want that.
Opt common_opt(const std::vector<Model>& models) {
  const bool same = std::ranges::all_of(models, [&](const Model& model) { return model.opt == models[0].opt; });
  return same ? models[0].opt : Opt::kBalanced;
}

/// Models of each piece, e.g. "kws, person".
std::string users_of(const Linked& linked, size_t piece) {
  std::vector<std::string> names;
  for (size_t m = 0; m < linked.models.size(); ++m) {
    if (std::ranges::count(linked.memory.pieces_of[m], piece) > 0) names.push_back(linked.models[m].symbol);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_shared(const Linked& linked, size_t piece) {
  return std::ranges::count_if(linked.memory.pieces_of,
                               [&](const auto& pieces) { return std::ranges::count(pieces, piece) > 0; }) > 1;
}

/// MODELS_ARENA_BYTES, or KWS_STATE_BYTES, which kws.h has.
std::string piece_macro(const Linked& linked, size_t piece) {
  const std::string region = macro_name(linked.memory.pieces[piece].region);
  if (is_shared(linked, piece)) return fmt::format("MODELS_{}_BYTES", region);
  return fmt::format("{}_{}_BYTES", macro_name(users_of(linked, piece)), region);
}

std::string models_header(const Linked& linked) {
  std::string text =
      "/* Made by `rushlight link`; do not edit. */\n#ifndef RUSHLIGHT_MODELS_H\n#define RUSHLIGHT_MODELS_H\n\n";
  const auto out = std::back_inserter(text);
  for (const firmware::NamedModel& model : linked.models) fmt::format_to(out, "#include \"{}.h\"\n", model.symbol);
  text +=
      "\n/** RAM that the models share: give the same memory to rush_open() of each. They must never run at once, and "
      "an\n *  input or output is gone when another model runs. 16-byte aligned. */\n";
  std::vector<std::string> sum;
  for (size_t i = 0; i < linked.memory.pieces.size(); ++i) {
    sum.push_back(piece_macro(linked, i));
    if (is_shared(linked, i)) fmt::format_to(out, "#define {} {}\n", sum.back(), linked.memory.pieces[i].bytes);
  }
  for (const firmware::NamedModel& model : linked.models) sum.push_back(macro_name(model.symbol) + "_CONTEXT_BYTES");
  fmt::format_to(out, "\n/** Bound of the stack that any of them needs. */\n#define MODELS_STACK_BYTES {}\n",
                 linked.stack_bytes);
  fmt::format_to(out, "\n/** Bound of all RAM: regions, contexts, stack. */\n#define MODELS_RAM_BYTES ({} + {})\n",
                 fmt::join(sum, " + "), "MODELS_STACK_BYTES");
  return text + "\n#endif\n";
}

void write(const fs::path& directory, const Model& model) {
  const SourceOptions names{.symbol = model.name, .made_from = model.folder.filename().string()};
  const std::string header = emit_header(model.image, names), source = emit_source(model.image, names);
  firmware::write_file(directory / (model.name + ".rush"), {model.image.begin(), model.image.end()});
  firmware::write_file(directory / (model.name + ".h"), header);
  firmware::write_file(directory / (model.name + ".cpp"), source);
}

Json report(const Linked& linked) {
  Json out = {{"rushlight", RUSH_VERSION}, {"target", linked.target}};
  out["models"] = Json::array();
  for (size_t m = 0; m < linked.models.size(); ++m)
    out["models"].push_back({{"name", linked.models[m].symbol}, {"image_bytes", linked.image_bytes[m]}});
  out["regions"] = Json::array();
  for (size_t i = 0; i < linked.memory.pieces.size(); ++i)
    out["regions"].push_back({{"name", linked.memory.pieces[i].region},
                              {"bytes", linked.memory.pieces[i].bytes},
                              {"models", users_of(linked, i)}});
  out["region_bytes"] = linked.region_bytes();
  out["region_bytes_apart"] = linked.apart_bytes();
  out["stack_bytes"] = linked.stack_bytes;
  return out;
}

}  // namespace

uint32_t Linked::region_bytes() const {
  uint32_t sum = 0;
  for (const firmware::MemoryPlan::Piece& piece : memory.pieces) sum += piece.bytes;
  return sum;
}

uint32_t Linked::apart_bytes() const {
  uint32_t sum = 0;
  for (const firmware::NamedModel& model : models) {
    for (const firmware::RegionFacts& region : model.facts.regions) sum += region.bytes;
  }
  return sum;
}

LinkInput parse_link_input(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

Linked link_models(const std::vector<LinkInput>& inputs, const fs::path& directory) {
  std::vector<Model> models;
  for (const LinkInput& input : inputs) models.push_back(read_model(input));
  check_names(models);
  check_targets(models);
  Linked linked{.target = models.at(0).target, .models = {}, .image_bytes = {}, .memory = {}};
  for (const Model& model : models) {
    linked.models.push_back({model.name, model.facts});
    linked.image_bytes.push_back(model.facts.image_bytes);
    linked.stack_bytes = std::max(linked.stack_bytes, model.facts.stack_bytes);
  }
  linked.memory = firmware::share_memory(linked.models);
  firmware::make_directory(directory);
  for (const Model& model : models) write(directory, model);
  firmware::write_file(directory / "models.h", models_header(linked));
  Json json = report(linked);
  json["opt"] = opt_name(common_opt(models));
  firmware::write_file(directory / "report.json", json.dump(2) + "\n");
  return linked;
}

std::string linked_json(const Linked& linked) { return report(linked).dump(2); }

}  // namespace rush
