// SPDX-License-Identifier: Apache-2.0
#include "cli/board_argument.h"

#include <algorithm>

#include "cli/model_argument.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/ir/diagnostic.h"

namespace rush {

firmware::BuildRequest build_request(const std::filesystem::path& directory, const std::string& board,
                                     const std::string& compiler) {
  if (model_kind(directory) != ModelKind::kFolder) {
    throw UserError(directory.string() + " is not a folder made by compile",
                    "compile first: rushlight compile MODEL.pt2 -o DIR");
  }
  const Target target = firmware::target_of(directory);
  return {.directory = directory,
          .target = target,
          .board = load_board(board.empty() ? target.board : board),
          .compiler = firmware::compiler_named(compiler),
          .opt = firmware::opt_of(directory)};
}

Runner board_runner(const firmware::BuildRequest& request, uint32_t* stack_bytes) {
  Runner runner = program_runner(read_image(request.directory), (request.directory / "model.rush").string());
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
