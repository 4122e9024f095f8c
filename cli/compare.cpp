// SPDX-License-Identifier: Apache-2.0
//
// rushlight compare MODEL.pt2 --input x.npy: stage against stage, layer by layer.
#include "compiler/compare/compare.h"

#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "compiler/import/npy.h"
#include "compiler/ir/exit_code.h"

namespace rush {
namespace {

struct Options {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> expected;
  double min_sqnr = -1e9;
  bool json = false;
  CompileOptions compile;
};

std::vector<HostTensor> read_all(const std::vector<std::string>& files) {
  std::vector<HostTensor> tensors;
  for (const std::string& file : files) tensors.push_back(read_npy(file));
  return tensors;
}

void require(const Comparison& comparison, double min_sqnr) {
  if (!comparison.program_is_exact()) throw DoesNotHold("the program's bits are not the quantized stage's");
  for (const OutputComparison& output : comparison.outputs) {
    const double decibels = output.expected_to_program.value_or(output.torch_to_program).sqnr_db();
    if (!(decibels >= min_sqnr))
      throw DoesNotHold(
          fmt::format("output \"{}\" has {:.1f} dB, --min-sqnr wants {}", output.name, decibels, min_sqnr));
  }
}

void compare(const Options& options) {
  const Comparison comparison = compare_stages(compile_model(options.model, options.compile), read_all(options.inputs),
                                               read_all(options.expected));
  fmt::print("{}\n", options.json ? comparison_json(comparison) : comparison_text(comparison));
  require(comparison, options.min_sqnr);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare the stages of a model, layer by layer; exit code 1 where they do not agree");
  command->footer("Example: rushlight compare model.pt2 --input x.npy --expected y.npy --min-sqnr 40");
  command->add_option("MODEL", options->model, "MODEL.pt2")->required();
  command->add_option("--input", options->inputs, "N samples stacked on axis 0 (.npy); once for each input")
      ->required();
  command->add_option("--expected", options->expected,
                      "Outputs from elsewhere, e.g. PyTorch (.npy); once for each output");
  command->add_option("--min-sqnr", options->min_sqnr,
                      "Least dB of every output, to --expected or else to the torch stage");
  command->add_option("--target", options->compile.target, "Core to compile for")->capture_default_str();
  command->add_option("--batch", options->compile.batch, "What a symbolic batch dimension becomes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { compare(*options); });
}

}  // namespace rush
