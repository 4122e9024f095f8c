// SPDX-License-Identifier: Apache-2.0
//
// What host tests leave for the emulated boards: with RUSH_DEVICE_SUITE=<directory> in the environment, each image
// with inputs and outputs is appended to <directory>/<isa>.suite in the format of boards/records.h, and a line that
// names each record to <directory>/<isa>.txt. So the tests that ran on the host run on every core.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/tensor.h"
#include "rushlight/rushlight.h"

namespace rush {

/// One run of an entry of an open image.
struct SuiteRun {
  uint32_t entry = 0;
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> outputs;
  bool band_by_band = false;
};

/// An image and its runs, one after the other on one instance. Where rush_open() must refuse it, there are no runs.
struct SuiteCase {
  std::string name;
  std::vector<uint8_t> image;
  std::vector<SuiteRun> runs;
  rush_status expected_status = RUSH_OK;
};

bool is_recording();

/// Appends the case; does nothing unless a suite is being recorded. The header of an image that must be refused has
/// to be whole enough to say for which class of cores it is and what RAM it wants.
void record_case(const SuiteCase& suite_case);

}  // namespace rush
