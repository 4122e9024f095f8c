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
  bool in_pieces = false;  ///< by rush_run_some()
};

/// An image and its runs, one after the other on one instance.
struct SuiteCase {
  std::string name;
  std::vector<uint8_t> image;
  std::vector<SuiteRun> runs;
};

/// Bytes that rush_open() must refuse with `status` when it is given the class of cores and the RAM of `like`.
struct RefusedCase {
  std::string name;
  std::vector<uint8_t> image;
  std::vector<uint8_t> like;
  rush_status status;
};

/// Appends the case; does nothing unless a suite is being recorded.
void record_case(const SuiteCase& suite_case);
void record_case(const RefusedCase& refused);

}  // namespace rush
