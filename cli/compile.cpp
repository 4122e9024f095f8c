// SPDX-License-Identifier: Apache-2.0
//
// rushlight compile: a .pt2 file becomes an image and the C++ files that carry it.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/model_argument.h"
#include "cli/options.h"
#include "compiler/emit/write_model.h"
#include "compiler/pipeline.h"
#include "compiler/report/report.h"

namespace rush {
namespace {

struct Options {
  std::string model;
  std::string directory;
  std::string opt = "balanced";
  std::vector<std::string> stream;
  std::vector<std::string> place;
  std::vector<std::string> ram;
  std::vector<std::string> labels;
  std::string input_type = "exported";
  ByteInput bytes;
  std::string symbol = "model";
  bool json = false;
  CompileOptions compile;
};

StreamRequest parse_stream(const std::string& text) {
  const size_t dots = text.find("..");
  if (dots == std::string::npos)
    throw UserError(fmt::format("--stream {}: no \"..\" in it", text),
                    "write FIRST..LAST, two layer names, e.g. --stream conv1..conv2");
  return {text.substr(0, dots), text.substr(dots + 2)};
}

PlaceRequest parse_place(const std::string& text) {
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0)
    throw UserError(fmt::format("--place {}: no \"=\" in it", text),
                    "write LAYER.weight=MEMORY, LAYER.output=MEMORY or LAYER=MEMORY");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// "32K", "1.5M", "20000".
uint64_t parse_bytes(const std::string& text) {
  size_t end = 0;
  double value = -1;
  try {
    value = std::stod(text, &end);
  } catch (const std::exception&) {
  }
  std::string unit = text.substr(end);
  if (!unit.empty() && (unit.back() == 'B' || unit.back() == 'b')) unit.pop_back();
  const std::map<std::string, double> units = {{"", 1},      {"k", 1024},    {"K", 1024},
                                               {"Ki", 1024}, {"M", 1 << 20}, {"Mi", 1 << 20}};
  const auto it = units.find(unit);
  if (!(value >= 0 && value < 1e9) || it == units.end())
    throw UserError(fmt::format("--ram {}: no number of bytes", text), "write 32K or 32768");
  return static_cast<uint64_t>(value * it->second);
}

/// "32K" of all RAM, or "dtcm=64K".
void add_ram(const std::string& text, CompileOptions& options) {
  const size_t equals = text.find('=');
  if (equals != std::string::npos) {
    options.limits.push_back({text.substr(0, equals), parse_bytes(text.substr(equals + 1))});
  } else if (!options.most_ram) {
    options.most_ram = parse_bytes(text);
  } else {
    throw UserError(fmt::format("--ram {}: the limit of all RAM is given twice", text), "leave out one of the two");
  }
}

void compile(Options options) {
  options.compile.opt = parse_opt(options.opt).value();
  for (const std::string& text : options.stream) options.compile.stream.push_back(parse_stream(text));
  for (const std::string& text : options.place) options.compile.place.push_back(parse_place(text));
  for (const std::string& text : options.ram) add_ram(text, options.compile);
  options.compile.labels = options.labels;
  if (options.input_type == "uint8") options.compile.bytes = options.bytes;
  const Compilation compilation = compile_model(options.model, options.compile);
  const std::string made_from = std::filesystem::path(options.model).filename().string();
  write_model(compilation.program, compilation.image,
              {.directory = options.directory, .symbol = options.symbol, .made_from = made_from});
  fmt::print("{}\n", options.json ? report_json(compilation.program, compilation.image,
                                                {.model = made_from, .symbol = options.symbol})
                                  : report_text(compilation.program, compilation.image));
}

}  // namespace

void add_compile_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "compile", "Compile an exported model: model.rush, model.h, model.cpp, report.json, report.html");
  command->footer("Example: rushlight compile model.pt2 --target cortex-m55 -o out");
  command->add_option("MODEL", options->model, "MODEL.pt2, written by torch.export.save")->required();
  command->add_option("--target", options->compile.target, "Core, see `rushlight targets`")->capture_default_str();
  command->add_option("-o,--output", options->directory, "Folder for what is made; created if absent")->required();
  add_opt_option(command, options->opt);
  add_batch_option(command, options->compile.batch);
  command->add_option("--stream", options->stream, "FIRST..LAST: run these layers band by band, through rings of rows");
  command->add_option("--ram", options->ram,
                      "Most RAM in all, e.g. 32K, or in one of a chip's memories, e.g. dtcm=64K: layers run through "
                      "rings of rows as far as that needs it");
  command->add_flag("--keep-input", options->compile.keep_input, "Leave the input as it was for the caller");
  command->add_flag("--line-input", options->compile.line_input,
                    "The caller gives the first input row by row: it never lies in RAM as a whole");
  command->add_flag("--curve", options->compile.trade_curve, "Find what more or less RAM would cost in time");
  CLI::Option* type =
      command->add_option("--input-type", options->input_type,
                          "uint8: the first input is a sensor's bytes, x = (byte * scale - mean) / std");
  type->check(CLI::IsMember({"exported", "uint8"}))->capture_default_str();
  command->add_option("--input-scale", options->bytes.scale, "Scale of --input-type uint8 (1/255)")->needs(type);
  command->add_option("--mean", options->bytes.mean, "Mean of --input-type uint8, for all channels or M1,M2,... (0)")
      ->delimiter(',')
      ->needs(type);
  command->add_option("--std", options->bytes.std, "Standard deviation of it, for all channels or S1,S2,... (1)")
      ->delimiter(',')
      ->needs(type);
  command->add_option("--place", options->place,
                      "LAYER.weight=MEMORY, LAYER.output=MEMORY or LAYER=MEMORY, * for any text: where it shall lie on "
                      "a chip; the rest lies where it costs least time");
  command->add_option("--labels", options->labels, "Class names that the image carries")->delimiter(',');
  command->add_option("--symbol", options->symbol, "C name of the model in model.h")->capture_default_str();
  command->add_option("--dump-ir", options->compile.dump_ir,
                      "Folder: the graph after import and after each pass that changed it");
  command->add_option("--stop-after", options->compile.stop_after, "Stop after this pass; only with --dump-ir");
  command->add_flag("--json", options->json, "Print the report as JSON");
  command->callback([options] { compile(*options); });
}

}  // namespace rush
