// SPDX-License-Identifier: Apache-2.0
//
// Where the time of a compiled model goes, layer by layer: counted on an emulated board, or from a device's own log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/firmware/build.h"
#include "compiler/profile/profile_log.h"

namespace rush {

/// A row of report.json with what its steps took in one inference.
struct LayerProfile {
  std::string layer;
  std::string source;
  std::string node;
  std::string op;
  std::string kernel;
  size_t first_step = 0;
  size_t step_count = 0;
  std::vector<std::string> outputs;
  std::vector<std::string> regions;  ///< where what it writes lies
  uint64_t macs = 0;
  uint64_t bytes_moved = 0;
  double estimated_cycles = 0;             ///< by the cost model
  std::optional<uint64_t> instructions{};  ///< executed; a device's log does not have them
  double cycles = 0;                       ///< modelled on a board, measured by a log
  double milliseconds = 0;
  uint32_t bands = 0;  ///< that its steps ran in

  double macs_per_cycle() const { return cycles > 0 ? static_cast<double>(macs) / cycles : 0; }
};

struct ModelProfile {
  std::string target;
  std::string measured_on;         ///< a board's name, or "device"
  double mhz = 0;                  ///< clock that the times are given for
  double most_macs_per_cycle = 0;  ///< of the target's core
  std::vector<LayerProfile> layers;

  double cycles() const;
  double milliseconds() const;
  uint64_t macs() const;
};

/// Executed instructions from the emulator and modelled cycles, one inference on a fixed pattern: no figure depends on
/// the values. Times are at the target's clock.
ModelProfile profile_on_board(const firmware::BuildRequest& request);

/// From a log of a device that ran the image in `directory`; a UserError if it ran another one.
ModelProfile profile_from_log(const std::filesystem::path& directory, const Target& target, const ProfileLog& log);

std::string profile_text(const ModelProfile& profile);
std::string profile_json(const ModelProfile& profile);

}  // namespace rush
