// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "compiler/ir/exit_code.h"

namespace {

int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Rushlight: PyTorch models on Arm Cortex-M microcontrollers"};
  app.footer(
      "Example: rushlight compile model.pt2 --target cortex-m55 -o out && rushlight build out --board mps3-an547");
  app.set_version_flag("--version", "rushlight " RUSH_VERSION);
  app.require_subcommand(1);
  rush::add_compile_command(app);
  rush::add_explain_command(app);
  rush::add_run_command(app);
  rush::add_build_command(app);
  rush::add_estimate_command(app);
  rush::add_profile_command(app);
  rush::add_compare_command(app);
  rush::add_size_command(app);
  rush::add_link_command(app);
  rush::add_show_command(app);
  rush::add_view_command(app);
  rush::add_targets_command(app);
  rush::add_python_commands(app);
  return rush::exit_code_of([&] { return run(app, argc, argv); });
}
