// SPDX-License-Identifier: Apache-2.0
//
// rushlight show model.rush: header, sections, steps.
#include "compiler/emit/show.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/model_argument.h"

namespace rush {

void add_show_command(CLI::App& app) {
  struct Options {
    std::string image;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("show", "Print an image: header, sections, entries, steps");
  command->footer("Example: rushlight show out/model.rush");
  command->add_option("IMAGE", options->image, "model.rush, or a folder made by compile")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    const std::vector<uint8_t> image = read_image(options->image);
    fmt::print("{}\n", options->json ? show_image_json(image, options->image) : show_image(image, options->image));
  });
}

}  // namespace rush
