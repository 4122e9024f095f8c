// SPDX-License-Identifier: Apache-2.0
//
// What building and running a firmware needs to know of a program image, read from the image itself.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rushlight/image.h"

namespace rush::firmware {

struct RegionFacts {
  std::string name;
  uint32_t bytes = 0;
  RegionKind kind = RegionKind::kArena;
};

struct EntryFacts {
  std::string name;
  std::vector<uint32_t> input_bytes;
  std::vector<uint32_t> output_bytes;
};

struct ImageFacts {
  Isa isa = Isa::kScalar;
  uint32_t image_bytes = 0;
  uint32_t stack_bytes = 0;
  uint32_t max_chain_steps = 0;
  bool line_fed = false;  ///< whether an input is
  std::vector<RegionFacts> regions;
  std::vector<EntryFacts> entries;
  std::vector<uint16_t> kernels;  ///< ids, in the order of the table

  /// Index of the entry named "init", or -1.
  int init_entry() const;
};

/// UserError, naming `file`, if the bytes are no image that holds together.
ImageFacts read_image_facts(std::span<const uint8_t> image, const std::string& file);

}  // namespace rush::firmware
