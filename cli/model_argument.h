// SPDX-License-Identifier: Apache-2.0
//
// What a user may name as a model: an exported archive, a folder that `compile` or `link` wrote, or an image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "compiler/ir/tensor.h"
#include "compiler/pipeline.h"

namespace rush {

enum class ModelKind { kArchive, kFolder, kLinked, kImage };

/// Throws a UserError if there is nothing of that name, or a folder holds no model.
ModelKind model_kind(const std::filesystem::path& path);

/// The bytes of an image or of a folder's model.rush. A UserError for a folder that link wrote.
std::vector<uint8_t> read_image(const std::filesystem::path& path);

/// What `compile` would write for an archive, into a folder.
void write_compiled(const Compilation& made, const std::filesystem::path& archive,
                    const std::filesystem::path& directory);

/// One array of each .npy file.
std::vector<HostTensor> read_arrays(const std::vector<std::string>& files);

}  // namespace rush
