// SPDX-License-Identifier: Apache-2.0
//
// rushlight explain MODEL.pt2: each layer's kernel and why, what would make it faster or smaller, and what cannot run.
#include "compiler/report/explain.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/options.h"
#include "compiler/lower/lower.h"
#include "compiler/pipeline.h"

namespace rush {
namespace {

struct Options {
  std::string model;
  std::string opt = "balanced";
  bool json = false;
  CompileOptions compile;
};

std::string errors_json(const UserError& error) {
  nlohmann::ordered_json out = {{"errors", nlohmann::ordered_json::array()}};
  for (const Diagnostic& d : error.diagnostics())
    out["errors"].push_back({{"layer", d.origin.layer},
                             {"source", d.origin.source},
                             {"op", d.op},
                             {"what", d.what},
                             {"details", d.details},
                             {"fix", d.fix}});
  return out.dump(2);
}

Explanation explain_model(const Options& options) {
  const Compilation made = compile_model(options.model, options.compile);
  Explanation explanation = explain(made.program, made.image);
  if (options.compile.opt != Opt::kSpeed)
    add_alternative(explanation, made.program,
                    lower_graph(made.quantized, made.program.isa, made.program.target, Opt::kSpeed));
  return explanation;
}

void run(Options options) {
  options.compile.opt = parse_opt(options.opt).value();
  try {
    const Explanation explanation = explain_model(options);
    fmt::print("{}\n", options.json ? explanation_json(explanation) : explanation_text(explanation));
  } catch (const UserError& error) {
    if (options.json) fmt::print("{}\n", errors_json(error));
    throw;
  }
}

}  // namespace

void add_explain_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "explain", "Which kernel each layer gets and why, what would make it faster or smaller, what cannot run");
  command->footer("Example: rushlight explain model.pt2 --target cortex-m55");
  command->add_option("MODEL", options->model, "MODEL.pt2")->required();
  command->add_option("--target", options->compile.target, "Core, see `rushlight targets`")->capture_default_str();
  add_opt_option(command, options->opt);
  add_batch_option(command, options->compile.batch);
  command->add_flag("--json", options->json, "Print JSON; where something cannot run, the errors");
  command->callback([options] { run(*options); });
}

}  // namespace rush
