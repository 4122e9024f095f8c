// SPDX-License-Identifier: Apache-2.0
//
// Several compiled models for one firmware. Their images stay as they are; kernels that two of them use are linked
// once; arenas are shared, since the models take turns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/firmware/layout.h"

namespace rush {

/// A model to link: a folder that compile wrote, or the model.rush in it.
struct LinkInput {
  std::string name;  ///< a C identifier; empty: after the file or the folder
  std::filesystem::path path;
};

/// "NAME=PATH" or "PATH".
LinkInput parse_link_input(const std::string& text);

/// What linking came to.
struct Linked {
  std::string target;
  std::vector<firmware::NamedModel> models;
  std::vector<uint32_t> image_bytes;
  firmware::MemoryPlan memory;
  uint32_t stack_bytes = 0;  ///< the largest of the models'

  uint32_t region_bytes() const;  ///< all pieces
  uint32_t apart_bytes() const;   ///< what the regions would take if nothing were shared
};

/// Writes NAME.rush, NAME.h and NAME.cpp of each model, models.h and report.json. Throws a UserError where two models
/// have one name or are for different targets.
Linked link_models(const std::vector<LinkInput>& inputs, const std::filesystem::path& directory);

std::string linked_json(const Linked& linked);

}  // namespace rush
