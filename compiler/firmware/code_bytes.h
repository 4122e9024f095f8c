// SPDX-License-Identifier: Apache-2.0
//
// What each kernel family adds to a firmware, from a linked one that holds all of them: estimates of flash are made of
// these figures (ops/code_bytes.h), without a build.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/firmware/disassembly.h"
#include "compiler/firmware/linker_map.h"
#include "rushlight/image.h"

namespace rush::firmware {

/// Bytes of the functions that a family's kernel and extents function reach, with the constants of their files. A
/// function that two families share counts for both.
std::map<std::string, uint32_t> family_code_bytes(const std::vector<MapSection>& map, const Disassembly& code, Isa isa);

}  // namespace rush::firmware
