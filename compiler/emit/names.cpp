// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/names.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "ops/op_def.h"
#include "rushlight/image.h"

namespace rush {
namespace {

/// What lies at the image's end, before the strings: layer and source of each step, each with a zero behind it.
struct NamesHeader {
  uint32_t magic;
  uint32_t image_crc;
  uint32_t steps;
  uint32_t string_bytes;
};

constexpr uint32_t kNamesMagic = 0x4d414e52;  // "RNAM"

ImageHeader header_of(std::span<const uint8_t> image) {
  ImageHeader header{};
  internal_check(image.size() >= sizeof header, "names: the image has no header");
  std::memcpy(&header, image.data(), sizeof header);
  return header;
}

/// The text at the front of `strings`, which loses it.
std::string take(std::string_view& strings) {
  const std::string_view text = strings.substr(0, strings.find('\0'));
  strings.remove_prefix(std::min(text.size() + 1, strings.size()));
  return std::string(text);
}

}  // namespace

std::vector<uint8_t> with_names(std::span<const uint8_t> image, const Program& program) {
  std::string strings;
  for (const ProgramStep& step : program.steps) {
    for (const std::string& text : {step.origin.layer, step.origin.source})
      strings.append(text.c_str()).push_back('\0');
  }
  const NamesHeader names{kNamesMagic, header_of(image).crc, static_cast<uint32_t>(program.steps.size()),
                          static_cast<uint32_t>(strings.size())};
  std::vector<uint8_t> file(image.begin(), image.end());
  const std::vector<uint8_t> raw = params_bytes(names);
  file.insert(file.end(), raw.begin(), raw.end());
  file.insert(file.end(), strings.begin(), strings.end());
  return file;
}

std::vector<Origin> names_behind(std::span<const uint8_t> file) {
  const ImageHeader header = header_of(file);
  if (header.image_bytes > file.size()) return {};
  const std::span<const uint8_t> behind = file.subspan(header.image_bytes);
  NamesHeader names{};
  if (behind.size() < sizeof names) return {};
  std::memcpy(&names, behind.data(), sizeof names);
  if (names.magic != kNamesMagic || names.image_crc != header.crc || names.string_bytes != behind.size() - sizeof names)
    return {};
  // Each of the two texts of a step is at least its zero.
  if (names.steps > names.string_bytes / 2) return {};
  std::string_view strings(reinterpret_cast<const char*>(behind.data()) + sizeof names, names.string_bytes);
  std::vector<Origin> origins;
  for (uint32_t i = 0; i < names.steps; ++i) {
    const std::string layer = take(strings);
    origins.push_back({layer, take(strings)});
  }
  return origins;
}

}  // namespace rush
