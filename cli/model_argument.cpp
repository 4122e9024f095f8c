// SPDX-License-Identifier: Apache-2.0
#include "cli/model_argument.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

#include "compiler/emit/write_model.h"
#include "compiler/import/npy.h"
#include "compiler/ir/diagnostic.h"

namespace rush {
ModelKind model_kind(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) {
    if (std::filesystem::is_regular_file(path / "models.h")) return ModelKind::kLinked;
    if (std::filesystem::is_regular_file(path / "model.rush")) return ModelKind::kFolder;
    throw UserError(fmt::format("{} holds no model.rush", path.string()),
                    fmt::format("compile a model into it: rushlight compile MODEL.pt2 -o {}", path.string()));
  }
  if (!std::filesystem::is_regular_file(path))
    throw UserError(fmt::format("{}: no such file", path.string()), "check the path");
  return path.extension() == ".rush" ? ModelKind::kImage : ModelKind::kArchive;
}

std::vector<uint8_t> read_image(const std::filesystem::path& path) {
  if (std::filesystem::is_regular_file(path / "models.h"))
    throw UserError(fmt::format("{} holds several models", path.string()), "name one of its images: DIR/NAME.rush");
  const std::filesystem::path file = std::filesystem::is_directory(path) ? path / "model.rush" : path;
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw UserError(fmt::format("cannot read {}", file.string()), "check that the file exists and may be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write_compiled(const Compilation& made, const std::filesystem::path& archive,
                    const std::filesystem::path& directory) {
  write_model(made.program, made.image, {.directory = directory, .made_from = archive.filename().string()});
}

std::vector<HostTensor> read_arrays(const std::vector<std::string>& files) {
  std::vector<HostTensor> arrays;
  for (const std::string& file : files) arrays.push_back(read_npy(file));
  return arrays;
}

}  // namespace rush
