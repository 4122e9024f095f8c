// SPDX-License-Identifier: Apache-2.0
//
// What became of a model, for people and for programs: one row for each layer, then memory, flash and ports.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ops/program.h"

namespace rush {

/// report.json: a planned program and the image emitted from it, and the name of the model that it was made from. Same
/// program, same text.
std::string report_json(const Program& program, std::span<const uint8_t> image, const std::string& model = "");

/// report.html: a page that holds report.json and draws it. `size`: what `rushlight size --json` says of the firmware,
/// once it is built; else "null".
std::string report_page(const std::string& report, const std::string& size = "null");

/// The table that `rushlight compile` prints.
std::string report_text(const Program& program, std::span<const uint8_t> image);

}  // namespace rush
