// SPDX-License-Identifier: Apache-2.0
//
// A model as Model Explorer (PyPI: ai-edge-model-explorer) shows it: the graph of each stage, grouped by the user's
// modules, and data for each node to colour it by.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/compare/compare.h"
#include "compiler/pipeline.h"
#include "compiler/profile/profile.h"

namespace rush {

/// What is known of a model beside its graphs.
struct ExplorerFacts {
  std::string target;                     ///< whose cycles the cost model gives; empty: typical of the image's class
  std::optional<ModelProfile> profile{};  ///< counted cycles instead
  std::optional<Comparison> comparison{};
};

/// JSON files: "graphs.json", which is the model, and one of node data for each overlay ("cycles.json", ...).
using ExplorerFiles = std::map<std::string, std::string>;

/// The stages "torch", "quantized" and "program".
ExplorerFiles explore(const Compilation& made, const ExplorerFacts& facts);

/// An image alone has the last of them.
ExplorerFiles explore_image(std::span<const uint8_t> image, const std::string& name, const ExplorerFacts& facts);

}  // namespace rush
