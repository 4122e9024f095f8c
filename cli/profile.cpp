// SPDX-License-Identifier: Apache-2.0
//
// rushlight profile DIR: where the time goes, layer by layer, on an emulated board or from a device's log.
#include "compiler/profile/etdump.h"

#include <fmt/format.h>

#include <memory>

#include "cli/board_argument.h"
#include "cli/commands.h"
#include "compiler/firmware/process.h"

namespace rush {
namespace {

struct Options {
  std::string directory;
  BoardArgument board;
  std::string log;
  std::string etdump;
  bool json = false;
};

ModelProfile profile(const Options& options) {
  const firmware::BuildRequest request = model_request(options.directory, options.board);
  if (options.log.empty()) return profile_on_board(request);
  if (!std::filesystem::is_regular_file(options.log))
    throw UserError(options.log + ": no such file", "name the file that the device's lines were saved to");
  const ProfileLog log = parse_profile_log(firmware::read_file(options.log), options.log);
  return profile_from_log(request.directory, request.target, log);
}

}  // namespace

void add_profile_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "profile", "Instructions, cycles and time of each layer, on an emulated board or from a device's log");
  command->footer(
      "Example: rushlight profile out --on mps3-an547\n"
      "         rushlight profile out --log uart.txt   (docs/profiling.md: what the firmware has to call)");
  command->add_option("DIR", options->directory, "A folder made by compile")->required();
  CLI::Option* on = add_board_options(command, options->board, "--on",
                                      "The emulated board; default: the one that runs the target's code");
  command->add_option("--log", options->log, "What a device sent: a capture that holds the lines of rush_profile_write")
      ->excludes(on);
  command->add_option("--etdump", options->etdump, "Also write the profile as an ETDump, for ExecuTorch's Inspector");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    const ModelProfile measured = profile(*options);
    if (!options->etdump.empty()) firmware::write_file(options->etdump, make_etdump(measured, {}).events);
    fmt::print("{}\n", options->json ? profile_json(measured) : profile_text(measured));
  });
}

}  // namespace rush
