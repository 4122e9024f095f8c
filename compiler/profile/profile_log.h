// SPDX-License-Identifier: Apache-2.0
//
// Reader of the log that a device writes of a profiled run (rushlight/profile.h, docs/profiling.md).
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace rush {

struct ProfileLog {
  struct Step {
    uint32_t bands = 0;
    uint64_t ticks = 0;
  };
  uint32_t image_crc = 0;
  uint32_t timer_hz = 0;
  uint32_t core_hz = 0;
  uint32_t runs = 0;
  std::map<uint32_t, Step> steps;  ///< those that ran, over all runs
};

/// The last whole log in a capture, which may hold anything else before, between and behind its lines. UserError,
/// naming `file`, where there is none or a line is damaged.
ProfileLog parse_profile_log(const std::string& capture, const std::string& file);

}  // namespace rush
