// SPDX-License-Identifier: Apache-2.0
//
// rushlight link A B -o DIR: several models for one firmware, which share an arena.
#include "compiler/link/link.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/commands.h"

namespace rush {
namespace {

void print_linked(const Linked& linked) {
  fmt::print("{:<24} {:>12} {:>12}\n", "model", "image bytes", "RAM alone");
  for (size_t m = 0; m < linked.models.size(); ++m) {
    uint32_t alone = 0;
    for (const firmware::RegionFacts& region : linked.models[m].facts.regions) alone += region.bytes;
    fmt::print("{:<24} {:>12} {:>12}\n", linked.models[m].symbol, linked.image_bytes[m], alone);
  }
  fmt::print("\nTarget   {}\nRAM      {} bytes of regions (apart they would take {}), stack {}\n", linked.target,
             linked.region_bytes(), linked.apart_bytes(), linked.stack_bytes);
}

}  // namespace

void add_link_command(CLI::App& app) {
  struct Options {
    std::vector<std::string> models;
    std::string directory;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "link", "Put compiled models into one firmware: kernels linked once, one arena for models that take turns");
  command->footer(
      "Example: rushlight link out/kws person=out/vww -o both && rushlight build both --board mps3-an547\n"
      "In code, include models.h, give the shared memory to rush_open() of each model, and run one after the other.");
  command->add_option("MODELS", options->models, "Folders made by compile, or NAME=FOLDER; their names in C")
      ->required()
      ->expected(2, -1);
  command->add_option("-o,--output", options->directory, "Folder for what is made; created if absent")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    std::vector<LinkInput> inputs;
    for (const std::string& text : options->models) inputs.push_back(parse_link_input(text));
    const Linked linked = link_models(inputs, options->directory);
    if (options->json) {
      fmt::print("{}\n", linked_json(linked));
    } else {
      print_linked(linked);
    }
  });
}

}  // namespace rush
