// SPDX-License-Identifier: Apache-2.0
//
// --board and --compiler as the firmware builder takes them.
#pragma once

#include <filesystem>
#include <string>

#include "compiler/firmware/build.h"

namespace rush {

/// A request for a folder that `compile` wrote. An empty board means the target's default board.
firmware::BuildRequest build_request(const std::filesystem::path& directory, const std::string& board,
                                     const std::string& compiler);

}  // namespace rush
