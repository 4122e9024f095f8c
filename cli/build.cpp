// SPDX-License-Identifier: Apache-2.0
//
// rushlight build DIR --board BOARD: a firmware of a compiled model for an emulated board.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/board_argument.h"
#include "cli/commands.h"
#include "compiler/firmware/build.h"

namespace rush {

void add_build_command(CLI::App& app) {
  struct Options {
    std::string directory;
    BoardArgument board;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("build", "Build DIR/firmware.elf for a board");
  command->footer("Example: rushlight build out --board mps3-an547");
  command->add_option("DIR", options->directory, "A folder made by compile")->required();
  add_board_options(command, options->board, "--board", "The board; default: the one that runs the target's code");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    const firmware::BuildRequest request = folder_request(options->directory, options->board);
    const firmware::Built built = firmware::build_firmware(request);
    if (options->json) {
      const nlohmann::ordered_json report = {{"elf", built.elf.string()},
                                             {"board", request.board.name},
                                             {"target", request.target.name},
                                             {"fresh", built.fresh}};
      fmt::print("{}\n", report.dump(2));
    } else {
      fmt::print("{} {} for {} on {}\n", built.elf.string(), built.fresh ? "built" : "is up to date",
                 request.target.name, request.board.name);
    }
  });
}

}  // namespace rush
