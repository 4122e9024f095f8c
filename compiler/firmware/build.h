// SPDX-License-Identifier: Apache-2.0
//
// From a compiled model's directory to a firmware for an emulated board.
#pragma once

#include <filesystem>
#include <string>

#include "compiler/firmware/image_facts.h"
#include "compiler/firmware/objects.h"
#include "compiler/target/target.h"
#include "ops/program.h"

namespace rush::firmware {

struct BuildRequest {
  std::filesystem::path directory;  ///< as `rushlight compile` or `rushlight link` wrote it
  Target target;
  Board board;
  Compiler compiler = Compiler::kGcc;
  Opt opt = Opt::kBalanced;  ///< kSize: kernels compiled for size too
};

/// Everything about a firmware lies beside its ELF: firmware.elf, firmware.map, firmware.stamp.
struct Built {
  std::filesystem::path elf;
  bool fresh = false;  ///< built now, not found up to date
};

/// Builds DIR/firmware.elf unless it is up to date. UserError if the board does not run the target's code, if the
/// image is for another class of cores, if the model does not fit, or if a tool is missing.
Built build_firmware(const BuildRequest& request);

/// Builds DIR/inspector.elf (boards/inspector.cpp) in the same way: it shows a run step by step.
Built build_inspector(const BuildRequest& request);

/// One of the models that a directory holds.
struct FolderModel {
  std::string symbol;  ///< names its header and source, too
  std::filesystem::path image;
};

/// What `compile` wrote, or what `link` put together, in the order in which it was named.
std::vector<FolderModel> models_in(const std::filesystem::path& directory);

/// The target that a directory was compiled for, from its report.json.
Target target_of(const std::filesystem::path& directory);

/// What its kernels were chosen for, likewise.
Opt opt_of(const std::filesystem::path& directory);

/// The player firmware (boards/player.cpp) of a target's class, in the cache directory.
Built build_player(const Target& target, const Board& board, Compiler compiler);

/// Device sources of the kernel families with these ids, or of all of them, for a class of cores.
std::vector<Source> kernel_sources(std::span<const uint16_t> ids, Isa isa);

}  // namespace rush::firmware
