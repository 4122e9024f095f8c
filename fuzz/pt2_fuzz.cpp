// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .pt2 file: a graph that verifies, or a UserError. Bytes that begin like JSON are the model.json of an
// archive with a few weights, so that mutations reach the translation and do not end at a CRC.
#include <cstdint>
#include <string>
#include <vector>

#include "compiler/import/import.h"
#include "tests/support/pt2_writer.h"

namespace {

using rush::DType;
using rush::HostTensor;
using rush::Shape;

HostTensor filled(DType dtype, const Shape& shape, double value) {
  HostTensor tensor(dtype, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_number(i, value);
  return tensor;
}

/// The seeds refer to these.
rush::ZipEntries entries_with_weights() {
  return rush::Pt2Writer()
      .parameter("conv", filled(DType::kFloat32, {4, 2, 3, 3}, 0.5))
      .parameter("line", filled(DType::kFloat32, {4, 2, 3}, 0.25))
      .parameter("fc", filled(DType::kFloat32, {3, 4}, -1))
      .parameter("bias", filled(DType::kFloat32, {4}, 1))
      .buffer("codes", filled(DType::kInt8, {4, 2, 3, 3}, 7))
      .buffer("scales", filled(DType::kFloat32, {4}, 0.125))
      .buffer("zeros", filled(DType::kInt64, {4}, 0))
      .entries();
}

std::vector<uint8_t> archive_with(const std::string& model) {
  static const rush::ZipEntries weights = entries_with_weights();
  rush::ZipEntries entries = weights;
  for (auto& [name, content] : entries) {
    if (name.ends_with("models/model.json")) content = model;
  }
  return rush::zip_stored(entries);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> archive(data, data + size);
  if (size > 0 && data[0] == '{') archive = archive_with({archive.begin(), archive.end()});
  try {
    rush::verify(rush::import_pt2(archive, "fuzz.pt2", {}));
  } catch (const rush::UserError&) {
  }
  return 0;
}
