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

/// C++ source that defines `rush_instance` (boards/instance.h): the model's context, its regions and their guards.
/// A region named as one of the board's memories lies there, every other one in the board's RAM.
std::string instance_source(const ImageFacts& facts, const Board& board, const std::string& model_symbol);

}  // namespace rush::firmware
