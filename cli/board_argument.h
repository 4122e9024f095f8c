// SPDX-License-Identifier: Apache-2.0
//
// --board, --on and --compiler as the firmware builder takes them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "compiler/firmware/build.h"
#include "compiler/run/run.h"

namespace rush {

/// A request for a folder that `compile` wrote. An empty board means the target's default board.
firmware::BuildRequest build_request(const std::filesystem::path& directory, const std::string& board,
                                     const std::string& compiler);

/// The same, or for a folder that `link` wrote.
firmware::BuildRequest firmware_request(const std::filesystem::path& directory, const std::string& board,
                                        const std::string& compiler);

/// The program or programs of such a folder, on the host. The runner refers to `images`, which it reads.
Runner folder_runner(const std::filesystem::path& directory, std::vector<std::vector<uint8_t>>& images);

/// A runner of a firmware: all samples go through one start of the emulator. A run notes the deepest stack.
Runner board_runner(const firmware::BuildRequest& request, uint32_t* stack_bytes);

}  // namespace rush
