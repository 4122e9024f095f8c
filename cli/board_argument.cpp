// SPDX-License-Identifier: Apache-2.0
#include "cli/board_argument.h"

#include "cli/model_argument.h"
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

}  // namespace rush
