// SPDX-License-Identifier: Apache-2.0
//
// The importer: a torch.export archive (.pt2) becomes a Graph of the torch stage, NCHW as exported, float with
// quantize and dequantize nodes, every weight a dense constant, every node with the user's layer and line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "compiler/ir/graph.h"

namespace rush {

struct ImportOptions {
  int64_t batch = 1;  ///< what a symbolic batch becomes
};

/// Throws UserError with everything that is wrong with the file or not supported in the model.
Graph import_pt2(const std::filesystem::path& file, const ImportOptions& options);

/// The same from memory; `name` stands for the file in messages.
Graph import_pt2(std::span<const uint8_t> archive, const std::string& name, const ImportOptions& options);

}  // namespace rush
