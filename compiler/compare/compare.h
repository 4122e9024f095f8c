// SPDX-License-Identifier: Apache-2.0
//
// One model on its whole way, layer by layer: where a difference begins and how large it is.
//
//   float model  ->  torch stage (PT2E)  ->  quantized stage  ->  program (the image on the host)  ->  board
//
// The first two steps change values, and are measured as distances. From the quantized stage on every bit must be the
// same, and differences are counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compare/record.h"
#include "compiler/pipeline.h"
#include "compiler/profile/etdump.h"
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

/// Codes of one stage against those that they must be.
struct Agreement {
  int64_t compared = 0;
  int64_t different = 0;
  int64_t first_sample = -1;  ///< where the first different code is, in memory order
  int64_t first_index = -1;

  void add(const HostTensor& expected, const HostTensor& got, int64_t sample);
  void add(const Agreement& other);
};

/// A value that the user's model and the compiled one both have.
struct LayerComparison {
  std::string tensor;
  std::string node;  ///< of the quantized stage
  std::string op;
  Origin origin;
  Shape shape;
  double step = 0;      ///< real distance of neighbouring codes; 0 where the layer is float
  Distance from_float;  ///< torch stage against the float model; no count where that is not given or has no such value
  Distance from_torch;  ///< quantized against torch stage
  int64_t saturated = 0;  ///< codes of the quantized stage at an end of the type's range that does not stand for zero
  int64_t codes = 0;
  Agreement program;  ///< the image on the host against the quantized stage
  Agreement board;    ///< the firmware against the image on the host
  uint32_t crc = 0;   ///< CRC-32 over the little-endian CRC-32 of the program's bytes of each sample

  /// Largest difference from torch in steps (LSB); 0 where the layer is float.
  double max_error_lsb() const { return step > 0 ? from_torch.max_error / step : 0; }
  double saturation() const { return codes > 0 ? static_cast<double>(saturated) / static_cast<double>(codes) : 0; }
};

struct OutputComparison {
  std::string name;
  double step = 0;
  Distance torch_to_program;
  std::optional<Distance> float_to_program;
  std::optional<Distance> expected_to_program;
};

/// The first layer, in order of execution, at which a stage departs from the one before.
struct Divergence {
  std::string stage;  ///< "torch", "quantized", "program", "board"
  size_t layer = 0;
  std::string what;
};

struct Comparison {
  size_t samples = 0;
  std::vector<LayerComparison> layers{};  ///< in execution order; layers whose value torch does not have are left out
  std::vector<OutputComparison> outputs{};
  std::string board{};                      ///< its name, or empty
  DeployedRecord record{};                  ///< of the program
  std::optional<ModelProfile> profile{};    ///< of the board, where it was asked for
  std::vector<LayerOutput> first_sample{};  ///< its layers as the board computed them, or else the program

  bool program_is_exact() const;
  bool board_is_exact() const;
  /// One for each stage that departs: by bits where they must agree, by more than one LSB for the quantized stage, by
  /// less than 20 dB for the torch stage.
  std::vector<Divergence> divergences() const;
};

/// An emulated board, and what to build the firmware with.
struct CompareBoard {
  std::string name;
  std::string compiler = "gcc";
  bool with_profile = false;  ///< also count what each layer takes
};

struct CompareRequest {
  Compilation made;
  std::vector<HostTensor> inputs;      ///< stacked samples
  std::vector<HostTensor> expected{};  ///< stacked outputs from elsewhere, or none
  std::optional<Graph> float_model{};  ///< the torch stage of the model before quantization
  std::optional<CompareBoard> on_board{};
};

/// Runs every sample at all stages, on all cores.
Comparison compare_stages(const CompareRequest& request);

/// As a table, as JSON, and as a page that needs nothing else.
std::string comparison_text(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison);
std::string comparison_page(const Comparison& comparison, const std::string& model);

}  // namespace rush
