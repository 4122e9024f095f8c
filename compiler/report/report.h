// SPDX-License-Identifier: Apache-2.0
//
// What became of a model, for people and for programs: one row for each layer, then memory, flash and ports.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ops/program.h"

namespace rush {

struct ReportNames {
  std::string model;  ///< the file that it was made from
  std::string symbol = "model";
};

/// report.json: a planned program and the image emitted from it. Same program, same text.
std::string report_json(const Program& program, std::span<const uint8_t> image, const ReportNames& names = {});

/// report.html: a page that holds report.json and draws it. `size`: what `rushlight size --json` says of the firmware,
/// once it is built; else "null".
std::string report_page(const std::string& report, const std::string& size = "null");

/// The table that `rushlight compile` prints.
std::string report_text(const Program& program, std::span<const uint8_t> image);

}  // namespace rush
