// SPDX-License-Identifier: Apache-2.0
//
// An image as C and C++ source: what a firmware includes (model.h) and compiles (model.cpp). Both are made from the
// image's bytes alone, so that they cannot disagree with it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace rush {

struct SourceOptions {
  std::string symbol = "model";  ///< a C identifier: names the rush_model, the files, and in capitals the macros
  std::string made_from;         ///< the model's file name, for the first line
};

/// What a name becomes in macros: "my-region" -> "MY_REGION".
std::string macro_name(std::string text);

/// The declaration of the rush_model, sizes of its memory, its entries, inputs and outputs. C and C++.
std::string emit_header(std::span<const uint8_t> image, const SourceOptions& options = {});

/// The image as a constant and a table of exactly the kernels that it lists.
std::string emit_source(std::span<const uint8_t> image, const SourceOptions& options = {});

}  // namespace rush
