// SPDX-License-Identifier: Apache-2.0
//
// rushlight run: N inferences of a model at any stage, on the host or on an emulated board.
#include "compiler/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/board_argument.h"
#include "cli/commands.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "compiler/firmware/process.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/import/npy.h"
#include "compiler/pipeline.h"
#include "compiler/profile/profile.h"

namespace rush {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model;
  std::vector<std::string> inputs;
  std::string output;
  std::string stage = "program";
  BoardArgument on{.name = "host"};
  bool raw = false;
  bool json = false;
  bool layers = false;
  CompileOptions compile;

  bool on_host() const { return on.name == "host"; }
};

/// What a run came to.
struct Result {
  std::vector<HostTensor> outputs;
  nlohmann::ordered_json facts;
};

Result run_with(const Runner& runner, const Options& options) {
  const std::vector<Sample> samples = runner.run(unstack_inputs(runner.inputs, read_arrays(options.inputs)));
  return {stack_outputs(runner.outputs, samples, options.raw), {{"samples", samples.size()}}};
}

Result run_on_board(const Options& options, const fs::path& directory) {
  const firmware::BuildRequest request = folder_request(directory, options.on);
  const bool is_linked = model_kind(directory) == ModelKind::kLinked;
  if (options.layers && is_linked)
    throw UserError("--layers counts one model", "name the folder that this model was compiled to");
  uint32_t stack_bytes = 0;
  const Runner runner = board_runner(request, &stack_bytes);
  Result result = run_with(runner, options);
  result.facts.update({{"board", request.board.name}, {"target", request.target.name}, {"stack_bytes", stack_bytes}});
  if (options.json && !is_linked) {
    const firmware::Cost cost = firmware::cost_of_inference(request);
    result.facts["instructions"] = cost.profile.instructions;
    result.facts["cycles"] = cost.profile.cycles;
    result.facts["milliseconds"] = cost.milliseconds;
  }
  if (options.layers) {
    const ModelProfile profile = profile_on_board(request);
    if (options.json)
      result.facts["layers"] = nlohmann::ordered_json::parse(profile_json(profile)).at("layers");
    else
      fmt::print("{}\n", profile_text(profile));
  }
  return result;
}

Result run_archive(const Options& options) {
  if (!options.on_host()) {
    const firmware::TemporaryDirectory directory;
    const Compilation compilation = compile_model(options.model, options.compile);
    write_compiled(compilation, options.model, directory.path());
    return run_on_board(options, directory.path());
  }
  const Graph torch = torch_stage(options.model, options.compile);
  if (options.stage == "torch") return run_with(graph_runner(torch), options);
  if (options.stage == "quantized") return run_with(graph_runner(quantized_stage(torch, options.compile)), options);
  return run_with(program_runner(compile_model(options.model, options.compile).image), options);
}

Result run_image(const Options& options) {
  if (options.stage != "program") {
    throw UserError(fmt::format("{} is a program: it has no stage \"{}\"", options.model, options.stage),
                    "name the .pt2 file to run an earlier stage");
  }
  const bool is_image = model_kind(options.model) == ModelKind::kImage;
  if (options.on_host() && !is_image) {
    std::vector<std::vector<uint8_t>> images;
    return run_with(folder_runner(options.model, images), options);
  }
  if (options.on_host()) return run_with(program_runner(read_image(options.model), options.model), options);
  if (is_image) {
    throw UserError("an image alone cannot be built for a board", "name the folder that compile wrote it to");
  }
  return run_on_board(options, options.model);
}

/// y.npy, or y0.npy, y1.npy, ... where there are several outputs.
std::string output_name(const std::string& name, size_t index, size_t count) {
  if (count == 1) return name;
  const fs::path path = name;
  return (path.parent_path() / fmt::format("{}{}{}", path.stem().string(), index, path.extension().string())).string();
}

void run(const Options& options) {
  if (options.layers && options.on_host())
    throw UserError("--layers counts what a board executes", "name a board: --on mps3-an547");
  if (!options.on_host() && options.stage != "program") {
    throw UserError(fmt::format("a board runs the program, not the stage \"{}\"", options.stage),
                    "leave out --stage or --on");
  }
  Result result = model_kind(options.model) == ModelKind::kArchive ? run_archive(options) : run_image(options);
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    if (!options.output.empty()) write_npy(output_name(options.output, i, result.outputs.size()), result.outputs[i]);
  }
  if (options.json) {
    for (const HostTensor& output : result.outputs)
      result.facts["outputs"].push_back({{"dtype", dtype_name(output.dtype())}, {"shape", output.shape()}});
    fmt::print("{}\n", result.facts.dump(2));
    return;
  }
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    const std::string place =
        options.output.empty() ? "not written (--output)" : output_name(options.output, i, result.outputs.size());
    fmt::print("output {}: {} {} {}\n", i, dtype_name(result.outputs[i].dtype()), to_string(result.outputs[i].shape()),
               place);
  }
}

}  // namespace

void add_run_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("run", "Run a model on inputs, at any stage, on the host or on an emulated board");
  command->footer("Example: rushlight run model.pt2 --input x.npy --output y.npy --on mps3-an547");
  command->add_option("MODEL", options->model, "MODEL.pt2, a folder made by compile, or model.rush")->required();
  command->add_option("--input", options->inputs, "N samples stacked on axis 0 (.npy); once for each input")
      ->required();
  command->add_option("--output", options->output, "Where to write the outputs (.npy)");
  command->add_option("--stage", options->stage, "torch, quantized or program")
      ->check(CLI::IsMember({"torch", "quantized", "program"}))
      ->capture_default_str();
  add_board_options(command, options->on, "--on", "host, or an emulated board")->capture_default_str();
  command->add_option("--target", options->compile.target, "Core to compile a .pt2 for")->capture_default_str();
  add_batch_option(command, options->compile.batch);
  command->add_flag("--raw", options->raw, "Write the integers before the final dequantize");
  command->add_flag("--layers", options->layers, "On a board: also what `rushlight profile` prints");
  command->add_flag("--json", options->json, "Print JSON; on a board also instructions and modelled cycles");
  command->callback([options] { run(*options); });
}

}  // namespace rush
