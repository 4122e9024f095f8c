// SPDX-License-Identifier: Apache-2.0
#include "cli/board_argument.h"

#include <algorithm>

#include "cli/model_argument.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/ir/diagnostic.h"

namespace rush {

CLI::Option* add_board_options(CLI::App* command, BoardArgument& board, const std::string& flag,
                               const std::string& description) {
  CLI::Option* on = command->add_option(flag, board.name, description);
  command->add_option("--compiler", board.compiler, "gcc or clang, for the firmware")
      ->check(CLI::IsMember({"gcc", "clang"}))
      ->capture_default_str();
  return on;
}

firmware::BuildRequest folder_request(const std::filesystem::path& directory, const BoardArgument& board) {
  const ModelKind kind = model_kind(directory);
  if (kind != ModelKind::kFolder && kind != ModelKind::kLinked) {
    throw UserError(directory.string() + " is not a folder made by compile",
                    "compile first: rushlight compile MODEL.pt2 -o DIR");
  }
  const Target target = firmware::target_of(directory);
  return {.directory = directory,
          .target = target,
          .board = load_board(board.is_given() ? board.name : target.board),
          .compiler = firmware::compiler_named(board.compiler),
          .opt = firmware::opt_of(directory)};
}

firmware::BuildRequest model_request(const std::filesystem::path& directory, const BoardArgument& board) {
  if (model_kind(directory) == ModelKind::kLinked) {
    throw UserError(directory.string() + " holds several models", "name the folder that one of them was compiled to");
  }
  return folder_request(directory, board);
}

Runner folder_runner(const std::filesystem::path& directory, std::vector<std::vector<uint8_t>>& images) {
  std::vector<std::pair<std::string, Runner>> programs;
  const std::vector<firmware::FolderModel> models = firmware::models_in(directory);
  images.reserve(models.size());
  for (const firmware::FolderModel& model : models) {
    images.push_back(read_image(model.image));
    programs.emplace_back(model.symbol, program_runner(images.back(), model.image.string()));
  }
  return programs.size() == 1 ? std::move(programs[0].second) : in_turn(std::move(programs));
}

Runner board_runner(const firmware::BuildRequest& request, uint32_t* stack_bytes) {
  std::vector<std::vector<uint8_t>> images;
  Runner runner = folder_runner(request.directory, images);
  runner.run = [request, outputs = runner.outputs, stack_bytes](const std::vector<Sample>& samples) {
    std::vector<uint8_t> bytes;
    for (const Sample& sample : samples) {
      for (const HostTensor& tensor : sample) bytes.insert(bytes.end(), tensor.raw(), tensor.raw() + tensor.bytes());
    }
    const firmware::BoardRun run = firmware::run_on_board(request, bytes);
    *stack_bytes = run.stack_bytes;
    std::vector<Sample> results(samples.size());
    const uint8_t* at = run.outputs.data();
    for (Sample& result : results) {
      for (const PortFormat& port : outputs) {
        HostTensor tensor(port.type.dtype, port.type.shape);
        std::copy_n(at, tensor.bytes(), tensor.raw());
        at += tensor.bytes();
        result.push_back(std::move(tensor));
      }
    }
    return results;
  };
  return runner;
}

}  // namespace rush
