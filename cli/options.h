// SPDX-License-Identifier: Apache-2.0
//
// Options that several commands have, with one meaning and one wording.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace rush {

/// --opt balanced|speed|size
inline void add_opt_option(CLI::App* command, std::string& opt) {
  command->add_option("--opt", opt, "balanced, speed or size")
      ->check(CLI::IsMember({"balanced", "speed", "size"}))
      ->capture_default_str();
}

/// --batch N
inline void add_batch_option(CLI::App* command, int64_t& batch) {
  command->add_option("--batch", batch, "What a symbolic batch dimension becomes")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

}  // namespace rush
