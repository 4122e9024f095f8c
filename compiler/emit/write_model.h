// SPDX-License-Identifier: Apache-2.0
//
// The files that `rushlight compile` leaves in a folder: model.rush, <symbol>.h, <symbol>.cpp, report.json,
// report.html.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "ops/program.h"

namespace rush {

struct WriteOptions {
  std::filesystem::path directory;  ///< created if absent
  std::string symbol = "model";     ///< C identifier
  std::string made_from;            ///< the model's file name, for the first line of the sources
};

/// Writes each file beside its place and renames it. Throws a UserError where the folder cannot be written or the
/// symbol is no C identifier.
void write_model(const Program& program, std::span<const uint8_t> image, const WriteOptions& options);

}  // namespace rush
