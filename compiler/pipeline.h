// SPDX-License-Identifier: Apache-2.0
//
// The table of contents: from a .pt2 file to a program image, stage by stage.
//
//   model.pt2 --import--> Graph(torch) --passes--> Graph(quantized) --lower, plan--> Program --emit--> image
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/take_bytes.h"
#include "compiler/plan/memories.h"
#include "compiler/target/target.h"
#include "ops/program.h"

namespace rush {

/// Two layers between which the maps run through rings of rows instead of existing whole.
struct StreamRequest {
  std::string first_layer;
  std::string last_layer;
};

/// So much of a memory may be used.
struct MemoryLimit {
  std::string memory;
  uint64_t bytes = 0;
};

struct CompileOptions {
  std::string target = "cortex-m55";
  Opt opt = Opt::kBalanced;
  int64_t batch = 1;               ///< what a symbolic batch dimension becomes
  bool full_kernel_table = false;  ///< number kernels as the player firmware does, not only those used
  std::vector<StreamRequest> stream;
  std::optional<uint64_t> most_ram;  ///< the whole RAM: arena, states, stack and context
  bool keep_input = false;           ///< inputs still have their values after a run
  bool line_input = false;           ///< the caller gives the first input row by row
  bool trade_curve = false;          ///< find what more or less RAM would cost
  std::optional<ByteInput> bytes;    ///< the first input is a sensor's bytes
  std::vector<MemoryLimit> limits;   ///< of single memories
  std::vector<PlaceRequest> place;   ///< what shall lie in which memory of the chip
  std::vector<std::string> labels;   ///< class names that the image carries
  std::filesystem::path dump_ir;     ///< a folder: the graph after import and after every pass that changed it
  std::string stop_after;            ///< a pass's name: the quantized stage ends there
};

/// Everything that compiling made, each stage of which can be run and compared.
struct Compilation {
  Graph torch;
  Graph quantized;
  Program program;
  std::vector<uint8_t> image;
};

/// The graph as exported.
Graph torch_stage(const std::filesystem::path& model, const CompileOptions& options);

/// After all passes: integer operators where the model is quantized.
Graph quantized_stage(Graph torch, const CompileOptions& options);

/// Kernel calls with every buffer placed. Throws a UserError where the target is too small.
Program program_stage(const Graph& quantized, const Target& target, const CompileOptions& options);

/// The image's parts. What only tools and rush_run_some() read is not stored where size counts.
EmitOptions image_options(const CompileOptions& options);

Compilation compile_model(const std::filesystem::path& model, const CompileOptions& options);

}  // namespace rush
