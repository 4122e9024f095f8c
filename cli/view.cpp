// SPDX-License-Identifier: Apache-2.0
//
// rushlight view MODEL|DIR: the graph of each stage in Model Explorer, coloured by what each layer takes.
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <memory>

#include "cli/board_argument.h"
#include "cli/commands.h"
#include "cli/model_argument.h"
#include "compiler/explorer/explorer.h"
#include "compiler/firmware/process.h"

namespace rush {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string model;
  std::vector<std::string> inputs;
  std::string float_model;
  BoardArgument board;
  std::string output;
  int port = 8080;
  bool no_open = false;
  bool only_write = false;
  CompileOptions compile;
};

ExplorerFiles of_archive(const Options& options) {
  CompareRequest request{.made = compile_model(options.model, options.compile), .inputs = {}};
  ExplorerFacts facts{.target = options.compile.target};
  if (options.board.is_given()) {
    const firmware::TemporaryDirectory directory;
    write_compiled(request.made, options.model, directory.path());
    facts.profile = profile_on_board(model_request(directory.path(), options.board));
  }
  if (!options.inputs.empty()) {
    request.inputs = read_arrays(options.inputs);
    if (!options.float_model.empty()) request.float_model = torch_stage(options.float_model, options.compile);
    facts.comparison = compare_stages(request);
  }
  return explore(request.made, facts);
}

ExplorerFiles of_image(const Options& options) {
  if (!options.inputs.empty())
    throw UserError("SQNR needs the model that the program was made from", "name the .pt2 file");
  ExplorerFacts facts;
  if (model_kind(options.model) == ModelKind::kFolder) facts.target = firmware::target_of(options.model).name;
  if (options.board.is_given()) facts.profile = profile_on_board(model_request(options.model, options.board));
  return explore_image(read_image(options.model), options.model, facts);
}

/// Model Explorer beside this program, as in a virtual environment, or from PATH; empty if there is none.
std::string model_explorer() {
  std::error_code failure;
  const fs::path beside = fs::read_symlink("/proc/self/exe", failure).parent_path() / "model-explorer";
  if (!failure && fs::exists(beside)) return beside.string();
  return firmware::has_tool("model-explorer") ? firmware::find_tool("model-explorer") : "";
}

[[noreturn]] void start(const std::string& program, const fs::path& folder, const ExplorerFiles& files,
                        const Options& options) {
  std::vector<std::string> data;
  for (const auto& [name, json] : files) {
    if (name != "graphs.json") data.push_back((folder / name).string());
  }
  std::vector<std::string> words = {program, (folder / "graphs.json").string(),
                                    fmt::format("--node_data_paths={}", fmt::join(data, ",")),
                                    fmt::format("--port={}", options.port)};
  if (options.no_open) words.push_back("--no_open_in_browser");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(stdout);
  setenv("PYTHONUNBUFFERED", "1", 1);  // its address comes at once through a pipe too
  execv(program.c_str(), arguments.data());
  throw InternalError(program + " could not be started");
}

void view(const Options& options) {
  const bool archive = model_kind(options.model) == ModelKind::kArchive;
  const ExplorerFiles files = archive ? of_archive(options) : of_image(options);
  const fs::path folder = options.output.empty()
                              ? fs::temp_directory_path() / fmt::format("rushlight-view-{}", getpid())
                              : fs::path(options.output);
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure)
    throw UserError(fmt::format("cannot make the folder {}: {}", folder.string(), failure.message()),
                    "choose another folder with -o");
  for (const auto& [name, json] : files) firmware::write_file(folder / name, json);
  fmt::print("{}: {} graphs and data\n", folder.string(), files.size());
  if (options.only_write) return;
  const std::string explorer = model_explorer();
  if (!explorer.empty()) start(explorer, folder, files, options);
  const fs::path page = fs::path(options.model) / "report.html";
  fmt::print("Model Explorer is not installed: pip install ai-edge-model-explorer\n");
  if (!archive && fs::exists(page)) fmt::print("Without it, open {} in a browser.\n", fs::absolute(page).string());
  if (archive) fmt::print("Without it, `rushlight compile {} -o DIR` writes DIR/report.html.\n", options.model);
}

}  // namespace

void add_view_command(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "view", "Show a model's graphs in Model Explorer, with cycles, memory and accuracy of each layer as colours");
  command->footer(
      "Example: rushlight view model.pt2 --input x.npy --on mps3-an547\n"
      "         rushlight view out\n"
      "Model Explorer opens .rush files by itself with --extensions=rushlight.model_explorer.");
  command->add_option("MODEL", options->model, "MODEL.pt2, a folder made by compile, or model.rush")->required();
  command->add_option("--input", options->inputs, "Samples for the SQNR of each layer (.npy); once for each input");
  command->add_option("--float", options->float_model, "The model before quantization (.pt2): SQNR from there");
  add_board_options(command, options->board, "--on", "An emulated board: counted cycles instead of estimates");
  command->add_option("--target", options->compile.target, "Core to compile a .pt2 for")->capture_default_str();
  command->add_option("-o,--output", options->output, "Folder for the graphs and data; default: a temporary one");
  command->add_option("--port", options->port, "Of Model Explorer's server")->capture_default_str();
  command->add_flag("--no-open", options->no_open, "Start the server, but no browser");
  command->add_flag("--only-write", options->only_write, "Write the files and end");
  command->callback([options] { view(*options); });
}

}  // namespace rush
