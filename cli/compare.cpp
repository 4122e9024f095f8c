// SPDX-License-Identifier: Apache-2.0
//
// rushlight compare MODEL.pt2 --input x.npy: stage against stage, layer by layer, up to a board. With --check, a record
// of what was deployed against what runs now.
#include "compiler/compare/compare.h"

#include <fmt/format.h>

#include <memory>

#include "cli/board_argument.h"
#include "cli/commands.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "compiler/firmware/process.h"
#include "compiler/ir/exit_code.h"

namespace rush {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model;
  std::vector<std::string> inputs;
  std::vector<std::string> expected;
  std::string float_model;
  BoardArgument board;
  std::string html;
  std::string etdump;
  std::string record;
  std::string check;
  double min_sqnr = -1e9;
  bool json = false;
  CompileOptions compile;
};

void require(const Comparison& comparison, double min_sqnr) {
  if (!comparison.program_is_exact()) throw DoesNotHold("the program's bits are not the quantized stage's");
  if (!comparison.board_is_exact())
    throw DoesNotHold(fmt::format("the bits on {} are not the program's", comparison.board));
  for (const OutputComparison& output : comparison.outputs) {
    const double decibels = output.expected_to_program.value_or(output.torch_to_program).sqnr_db();
    if (!(decibels >= min_sqnr))
      throw DoesNotHold(
          fmt::format("output \"{}\" has {:.1f} dB, --min-sqnr wants {}", output.name, decibels, min_sqnr));
  }
}

DeployedRecord read_record(const std::string& file) {
  if (!fs::is_regular_file(file)) throw UserError(file + ": no such file", "name the file that --record wrote");
  return parse_record(firmware::read_file(file), file);
}

/// Says so where all is as recorded; otherwise a comparison that does not hold.
void require_recorded(const DeployedRecord& now, const std::string& file) {
  std::string text;
  for (const std::string& difference : differences(read_record(file), now))
    text += (text.empty() ? "" : "\n") + difference;
  if (!text.empty()) throw DoesNotHold(text);
  fmt::print(stderr, "as recorded in {}: the image, {} inputs, {} outputs\n", file, now.inputs.size(),
             now.outputs.size());
}

/// FILE, and FILE.bin with the values; times are those of the board.
void write_etdump(const std::string& file, const Comparison& comparison) {
  const EtDump dump = make_etdump(*comparison.profile, comparison.first_sample);
  firmware::write_file(file, dump.events);
  firmware::write_file(file + ".bin", dump.debug_buffer);
}

void compare_model(const Options& options) {
  if (!options.etdump.empty() && !options.board.is_given())
    throw UserError("--etdump holds what a board takes and computes", "name a board: --on mps3-an547");
  CompareRequest request{.made = compile_model(options.model, options.compile),
                         .inputs = read_arrays(options.inputs),
                         .expected = read_arrays(options.expected)};
  if (!options.float_model.empty()) request.float_model = torch_stage(options.float_model, options.compile);
  if (options.board.is_given())
    request.on_board = CompareBoard{options.board.name, options.board.compiler, !options.etdump.empty()};
  const Comparison comparison = compare_stages(request);
  fmt::print("{}\n", options.json ? comparison_json(comparison) : comparison_text(comparison));
  if (!options.html.empty())
    firmware::write_file(options.html, comparison_page(comparison, fs::path(options.model).filename().string()));
  if (!options.etdump.empty()) write_etdump(options.etdump, comparison);
  if (!options.record.empty()) firmware::write_file(options.record, record_json(comparison.record) + "\n");
  require(comparison, options.min_sqnr);
  if (!options.check.empty()) require_recorded(comparison.record, options.check);
}

/// What was deployed, without the model that it came from.
void check_deployed(const Options& options) {
  if (options.check.empty())
    throw UserError(options.model + " is a program: it has no earlier stages to compare with",
                    "name the .pt2 file, or --check RECORD to compare with a record");
  const std::vector<uint8_t> image = read_image(options.model);
  uint32_t stack_bytes = 0;
  const Runner runner = options.board.is_given()
                            ? board_runner(model_request(options.model, options.board), &stack_bytes)
                            : program_runner(image, options.model);
  const std::vector<Sample> inputs = unstack_inputs(runner.inputs, read_arrays(options.inputs));
  require_recorded(make_record(image, inputs, runner.run(inputs)), options.check);
}

void compare(const Options& options) {
  if (model_kind(options.model) == ModelKind::kArchive) return compare_model(options);
  check_deployed(options);
}

}  // namespace

void add_compare_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compare", "Compare the stages of a model, layer by layer, up to a board; exit code 1 where they do not agree");
  command->footer(
      "Example: rushlight compare model.pt2 --input x.npy --float model_f32.pt2 --on mps3-an547 --html compare.html\n"
      "         rushlight compare model.pt2 --input x.npy --record deployed.json\n"
      "         rushlight compare out --input x.npy --check deployed.json");
  command->add_option("MODEL", options->model, "MODEL.pt2; with --check also what compile wrote")->required();
  command->add_option("--input", options->inputs, "N samples stacked on axis 0 (.npy); once for each input")
      ->required();
  command->add_option("--expected", options->expected,
                      "Outputs from elsewhere, e.g. PyTorch (.npy); once for each output");
  command->add_option("--float", options->float_model, "The model before quantization (.pt2), to compare with as well");
  add_board_options(command, options->board, "--on", "An emulated board: compare every layer of its firmware too");
  command->add_option("--min-sqnr", options->min_sqnr,
                      "Least dB of every output, to --expected or else to the torch stage");
  command->add_option("--record", options->record,
                      "Write what was computed, as hashes: image, inputs, layers, outputs");
  command->add_option("--check", options->check, "Compare with a record that --record wrote");
  command->add_option("--etdump", options->etdump,
                      "With --on: write cycles and values of every layer as an ETDump (and FILE.bin), for ExecuTorch's "
                      "Inspector");
  command->add_option("--html", options->html, "Write the comparison as a page");
  command->add_option("--target", options->compile.target, "Core to compile for")->capture_default_str();
  add_batch_option(command, options->compile.batch);
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options] { compare(*options); });
}

}  // namespace rush
