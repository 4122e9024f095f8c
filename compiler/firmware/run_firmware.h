// SPDX-License-Identifier: Apache-2.0
//
// Running firmware on emulated boards: one model over a file of inputs, many small programs over records, and what an
// inference costs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "boards/records.h"
#include "compiler/firmware/build.h"
#include "compiler/firmware/cycle_model.h"

namespace rush::firmware {

/// What the harness observed of a run.
struct BoardRun {
  std::vector<uint8_t> outputs;  ///< all outputs of each inference, one behind the other
  uint32_t inferences = 0;
  uint32_t stack_bytes = 0;  ///< deepest painted stack of an inference
};

struct RunLimits {
  double timeout_seconds = 600;
};

/// Builds the firmware if it is absent or stale and runs every inference in `inputs`. InternalError if a guard band
/// changed, a status was not RUSH_OK, or the firmware crashed.
BoardRun run_on_board(const BuildRequest& request, const std::vector<uint8_t>& inputs, const RunLimits& limits = {});

/// Executed instructions and modelled cycles of one inference on the built-in pattern.
struct Cost {
  Profile profile;
  double milliseconds = 0;  ///< at the target's clock
};
Cost cost_of_inference(const BuildRequest& request);

/// The same, step by step: element i is what step i of the image cost, over all bands.
struct StepCost {
  FunctionCost cost;
  uint32_t bands = 0;
};
std::vector<StepCost> cost_of_steps(const BuildRequest& request);

/// The log that a firmware writes which profiles an inference on the built-in pattern by its own timer
/// (rushlight/profile.h). The emulated clock goes on by a fixed time with each instruction.
std::string profile_log_of(const BuildRequest& request);

/// What the bands of every inference in `inputs` write, one behind the other: see boards/inspector.cpp.
std::vector<uint8_t> band_outputs(const BuildRequest& request, const std::vector<uint8_t>& inputs);

/// One program for the player. Without an image it goes on with the instance of the record before.
struct Record {
  std::vector<uint8_t> image;
  uint32_t entry = 0;
  std::vector<uint8_t> input;
  std::vector<uint8_t> expected;
  bool band_by_band = false;
  uint32_t expected_status = RUSH_OK;  ///< of rush_open
  /// Memory to open it with, where that is not what the image asks for: a damaged image must say it.
  struct Memory {
    uint32_t chain_steps = 1;
    std::vector<uint32_t> region_bytes;
  };
  std::optional<Memory> memory;
};

struct RecordResult {
  RecordOutcome outcome;
  bool ok = false;
};

/// Plays all records on a board, in as few starts of the emulator as the board's memory allows. The results are in
/// the records' order. A record that does not fit the board has the status kDoesNotFit.
struct PlayRequest {
  Target target;
  Board board;
  Compiler compiler = Compiler::kGcc;
};
std::vector<RecordResult> play(const PlayRequest& request, const std::vector<Record>& records);

/// The costs of each record's run, in order; records that never ran have none.
std::vector<Profile> cost_of_records(const PlayRequest& request, const std::vector<Record>& records);

}  // namespace rush::firmware
