// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of an image go. Every byte has one owner, the first that uses it, so the parts add up to the image.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/emit/image_reader.h"

namespace rush {

struct LayerAccount {
  std::string layer;
  std::string source;           ///< "model.py:41", or empty
  uint32_t constant_bytes = 0;  ///< weights, biases, multipliers, tables
  uint32_t padding_bytes = 0;   ///< zeros between the weights, for the kernel's blocks
  uint32_t step_bytes = 0;      ///< steps, operands, links, parameters, and where they come from
  uint32_t shared_bytes = 0;    ///< read here and owned by an earlier layer: in no sum
  uint32_t bytes() const { return constant_bytes + padding_bytes + step_bytes; }
};

struct ImageAccount {
  std::vector<LayerAccount> layers;          ///< in the order of their first steps
  std::map<std::string, uint32_t> sections;  ///< what is of no layer: "header", "strings", ..., "alignment"
};

ImageAccount account_for(const ImageReader& image);

}  // namespace rush
