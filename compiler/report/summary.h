// SPDX-License-Identifier: Apache-2.0
//
// The figures of a report, before they become text or JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "ops/program.h"

namespace rush {

/// One node of the graph and the steps that it became, e.g. one for each image of a batch.
struct LayerRow {
  std::string layer;
  std::string source;               ///< "model.py:41", or empty
  std::string node;                 ///< name in the graph
  std::string op;                   ///< "conv2d"
  std::string kernel;               ///< "conv2d_s8_dsp"
  std::string becomes;              ///< "integer kernel", "float kernel" or "data movement"
  std::vector<std::string> inputs;  ///< types, e.g. "int8 [1,25,5,64]"
  std::vector<std::string> outputs;
  int first_step = 0;
  int step_count = 1;
  int ring_rows = 0;          ///< of the output, where it is a ring; else 0
  uint32_t output_bytes = 0;  ///< of RAM: a ring's, not the map's that runs through it
  uint64_t macs = 0;
  uint32_t constant_bytes = 0;       ///< weights, biases and tables that the layer reads
  double cycles = 0;                 ///< estimated by the cost model
  uint64_t bytes_moved = 0;          ///< maps read and written and constants read, each once
  std::vector<std::string> regions;  ///< where what it writes lies
};

struct ProgramSummary {
  std::vector<LayerRow> layers;
  PlanSummary plan;
  uint64_t macs = 0;
  double cycles = 0;            ///< estimated, of the inference
  uint32_t constant_bytes = 0;  ///< each constant once
  uint32_t image_bytes = 0;
  uint32_t stack_bytes = 0;
};

ProgramSummary summarize(const Program& program, std::span<const uint8_t> image);

}  // namespace rush
