// SPDX-License-Identifier: Apache-2.0
//
// --board or --on, and --compiler, as the firmware builder takes them.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/firmware/build.h"
#include "compiler/run/run.h"

namespace rush {

/// An emulated board, and what its firmware is built with.
struct BoardArgument {
  std::string name{};
  std::string compiler = "gcc";

  bool is_given() const { return !name.empty(); }
};

/// The option `flag` BOARD, which is returned, and --compiler.
CLI::Option* add_board_options(CLI::App* command, BoardArgument& board, const std::string& flag,
                               const std::string& description);

/// A request for a folder that `compile` or `link` wrote. If no board is given, it is the target's default board.
firmware::BuildRequest folder_request(const std::filesystem::path& directory, const BoardArgument& board);

/// The same, but an error for what `link` wrote.
firmware::BuildRequest model_request(const std::filesystem::path& directory, const BoardArgument& board);

/// The program or programs of such a folder, on the host. The runner refers to `images`, which it reads.
Runner folder_runner(const std::filesystem::path& directory, std::vector<std::vector<uint8_t>>& images);

/// A runner of a firmware: all samples go through one start of the emulator. A run notes the deepest stack.
Runner board_runner(const firmware::BuildRequest& request, uint32_t* stack_bytes);

}  // namespace rush
