// SPDX-License-Identifier: Apache-2.0
//
// What a user may name as a model: an exported archive, a folder that `compile` or `link` wrote, or an image.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rush {

enum class ModelKind { kArchive, kFolder, kLinked, kImage };

/// Throws a UserError if there is nothing of that name, or a folder holds no model.
ModelKind model_kind(const std::filesystem::path& path);

/// The bytes of an image or of a folder's model.rush. A UserError for a folder that link wrote.
std::vector<uint8_t> read_image(const std::filesystem::path& path);

}  // namespace rush
