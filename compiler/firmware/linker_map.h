// SPDX-License-Identifier: Apache-2.0
//
// The GNU linker's map: which bytes of the firmware come from which object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rush::firmware {

/// One input section that was kept.
struct MapSection {
  std::string output;  ///< ".text"
  std::string input;   ///< ".text._ZN4rush4openE", or "*fill*"
  uint32_t address = 0;
  uint32_t bytes = 0;
  std::string object;  ///< path, or "lib.a(member.o)"; empty for fill
};

std::vector<MapSection> parse_linker_map(const std::string& text);

}  // namespace rush::firmware
