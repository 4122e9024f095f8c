// SPDX-License-Identifier: Apache-2.0
//
// What a model will take on each core, from the compiler's own models of time and code: nothing is built or run.
#pragma once

#include <string>
#include <vector>

#include "compiler/pipeline.h"

namespace rush {

/// How far estimates are from measurement at most, over the models and cores of the bench, which checks it. Time
/// against the modelled cycles of executed code; flash and RAM against the linked firmware. Parts of the measured
/// figure.
struct EstimateError {
  double time;
  double flash;
  double ram;
};
constexpr EstimateError kLargestError = {0.15, 0.06, 0.10};

struct TargetEstimate {
  std::string target;
  std::string kernels;  ///< "scalar", "dsp", "mve"
  double mhz = 0;
  double cycles = 0;
  uint64_t ram_bytes = 0;    ///< bound: arena, states, context and stack
  uint64_t flash_bytes = 0;  ///< all of it: image, kernels, runtime, start-up
  uint64_t image_bytes = 0;
  uint64_t kernel_bytes = 0;  ///< code of the kernels that the model uses
  std::string problem;        ///< why the model does not go there; the figures are then 0, or too large

  double milliseconds() const { return mhz > 0 ? cycles / mhz / 1000 : 0; }
};

/// In the order of the targets. Throws the UserError of a model that no core can run.
std::vector<TargetEstimate> estimate_model(const std::filesystem::path& model, const std::vector<std::string>& targets,
                                           const CompileOptions& options);

std::string estimate_text(const std::vector<TargetEstimate>& estimates);
std::string estimate_json(const std::vector<TargetEstimate>& estimates);

}  // namespace rush
