// SPDX-License-Identifier: Apache-2.0
//
// rushlight estimate MODEL.pt2: time, RAM and flash on every known core, without a build.
#include "compiler/estimate/estimate.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/model_argument.h"
#include "cli/options.h"

namespace rush {

void add_estimate_command(CLI::App& app) {
  struct Options {
    std::string model;
    std::vector<std::string> targets = {"all"};
    std::string opt = "balanced";
    bool json = false;
    CompileOptions compile;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("estimate", "Time, RAM and flash of a model on every core, without a build");
  command->footer("Example: rushlight estimate model.pt2 --target all");
  command->add_option("MODEL", options->model, "MODEL.pt2, written by torch.export.save")->required();
  command->add_option("--target", options->targets, "Cores, see `rushlight targets`, or all")
      ->delimiter(',')
      ->capture_default_str();
  add_opt_option(command, options->opt);
  add_batch_option(command, options->compile.batch);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] {
    if (model_kind(options->model) != ModelKind::kArchive)
      throw UserError(options->model + " was compiled for one core already: its report.json has the figures",
                      "name the .pt2 file that it was made from");
    options->compile.opt = parse_opt(options->opt).value();
    const bool all = options->targets == std::vector<std::string>{"all"};
    const auto estimates = estimate_model(options->model, all ? target_names() : options->targets, options->compile);
    fmt::print("{}\n", options->json ? estimate_json(estimates) : estimate_text(estimates));
  });
}

}  // namespace rush
