// SPDX-License-Identifier: Apache-2.0
//
// The two files that `rushlight build` writes for a board and a model: the linker script and the model's memory.
#pragma once

#include <string>
#include <vector>

#include "compiler/firmware/image_facts.h"
#include "compiler/target/target.h"

namespace rush::firmware {

/// MEMORY and the sections of a model's regions, in front of boards/sections.ld's text.
std::string linker_script(const Board& board, const std::string& sections);

/// A model by its symbol, which names its header, too.
struct NamedModel {
  std::string symbol;
  ImageFacts facts;
};

/// Memory of one or more models: pieces, and which of them each region of each model begins.
struct MemoryPlan {
  struct Piece {
    std::string region;  ///< name
    uint32_t bytes = 0;
  };
  std::vector<Piece> pieces;
  std::vector<std::vector<size_t>> pieces_of;  ///< of model m's region r
};

/// Models that never run at once share what outlives no run: arenas of the same name are one piece, as large as the
/// largest of them. States are nobody else's.
MemoryPlan share_memory(const std::vector<NamedModel>& models);

/// C++ source that defines `rush_instances` (boards/instance.h): the models' contexts, their regions and the guards.
/// A region named as one of the board's memories lies there if it fits, every other one in the board's RAM.
std::string instance_source(const std::vector<NamedModel>& models, const Board& board);

}  // namespace rush::firmware
