// SPDX-License-Identifier: Apache-2.0
//
// One model at its three stages, layer by layer: where a difference begins and how large it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/pipeline.h"
#include "compiler/run/run.h"

namespace rush {

/// How far values are from a reference, over all samples.
struct Distance {
  double signal = 0;     ///< sum of squares of the reference
  double noise = 0;      ///< sum of squares of the differences
  double max_error = 0;  ///< largest difference
  int64_t count = 0;

  void add(double reference, double value);
  void add(const Distance& other);
  /// Signal to quantization noise ratio in dB; infinite where nothing differs.
  double sqnr_db() const;
};

/// A layer of the quantized stage against the same value of the torch stage, and the program against it.
struct LayerComparison {
  std::string tensor;
  std::string op;
  Origin origin;
  Shape shape;
  double step = 0;      ///< real distance of neighbouring codes; 0 where the layer is float
  Distance from_torch;  ///< real values
  int64_t program_codes_compared = 0;
  int64_t program_codes_different = 0;  ///< must be 0: the program's bits are the quantized stage's

  /// Largest difference from torch in steps (LSB); 0 where the layer is float.
  double max_error_lsb() const { return step > 0 ? from_torch.max_error / step : 0; }
};

struct OutputComparison {
  std::string name;
  double step = 0;
  Distance torch_to_program;
  std::optional<Distance> expected_to_program;
};

struct Comparison {
  size_t samples = 0;
  std::vector<LayerComparison> layers;  ///< in execution order; layers whose value torch does not have are left out
  std::vector<OutputComparison> outputs;

  bool program_is_exact() const;
};

/// Runs every sample at all three stages, on all cores. `expected`: stacked outputs from elsewhere, or empty.
Comparison compare_stages(const Compilation& made, const std::vector<HostTensor>& inputs,
                          const std::vector<HostTensor>& expected);

/// As a table, and as JSON.
std::string comparison_text(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);

}  // namespace rush
