// SPDX-License-Identifier: Apache-2.0
//
// Exit codes: 0 holds, 1 a comparison does not, 2 the user's error, 3 our fault.
#include <cstdio>
#include <exception>

#include "cli/commands.h"
#include "compiler/ir/diagnostic.h"

namespace {

int run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const rush::DoesNotHold& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  } catch (const rush::UserError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "internal error: %s\n  this is a fault of rushlight, not of your model: please report it with the "
                 "command and the model\n",
                 error.what());
    return 3;
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
  rush::add_run_command(app);
  rush::add_build_command(app);
  rush::add_compare_command(app);
  rush::add_size_command(app);
  rush::add_show_command(app);
  rush::add_targets_command(app);
  return run(app, argc, argv);
}
