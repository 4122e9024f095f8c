// SPDX-License-Identifier: Apache-2.0
#include "compiler/compare/record.h"

#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "compiler/ir/diagnostic.h"
#include "rushlight/crc32.h"
#include "rushlight/image.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

/// Numbers as people compare them.
std::string hex(uint32_t crc) { return fmt::format("{:08x}", crc); }

uint32_t number(const Json& text) { return static_cast<uint32_t>(std::stoul(text.get<std::string>(), nullptr, 16)); }

Json hex_list(const std::vector<uint32_t>& crcs) {
  Json list = Json::array();
  for (const uint32_t crc : crcs) list.push_back(hex(crc));
  return list;
}

std::vector<uint32_t> numbers(const Json& list) {
  std::vector<uint32_t> crcs;
  for (const Json& text : list) crcs.push_back(number(text));
  return crcs;
}

void compare_samples(const char* what, const std::vector<uint32_t>& recorded, const std::vector<uint32_t>& now,
                     std::vector<std::string>& found) {
  if (recorded.size() != now.size()) {
    found.push_back(fmt::format("{} samples were recorded, {} are given", recorded.size(), now.size()));
    return;
  }
  size_t different = 0, first = 0;
  for (size_t i = recorded.size(); i-- > 0;) {
    if (recorded[i] == now[i]) continue;
    ++different;
    first = i;
  }
  if (different > 0)
    found.push_back(fmt::format("the {} of {} of {} samples differ, first sample {}: {} was recorded, now {}", what,
                                different, now.size(), first, hex(recorded[first]), hex(now[first])));
}

void compare_layers(const DeployedRecord& recorded, const DeployedRecord& now, std::vector<std::string>& found) {
  for (const auto& [name, crc] : now.layers) {
    for (const auto& [recorded_name, recorded_crc] : recorded.layers) {
      if (recorded_name != name || recorded_crc == crc) continue;
      found.push_back(fmt::format("the first layer that differs computes \"{}\"", name));
      return;
    }
  }
}

}  // namespace

uint32_t crc_of(const Sample& sample) {
  uint32_t crc = 0;
  for (const HostTensor& tensor : sample) crc = crc32(tensor.raw(), tensor.bytes(), crc);
  return crc;
}

DeployedRecord make_record(std::span<const uint8_t> image, const std::vector<Sample>& inputs,
                           const std::vector<Sample>& outputs) {
  ImageHeader header{};
  internal_check(image.size() >= sizeof header, "record: the image has no header");
  std::memcpy(&header, image.data(), sizeof header);
  DeployedRecord record{
      .image_crc = header.crc, .image_bytes = header.image_bytes, .inputs = {}, .outputs = {}, .layers = {}};
  for (const Sample& sample : inputs) record.inputs.push_back(crc_of(sample));
  for (const Sample& sample : outputs) record.outputs.push_back(crc_of(sample));
  return record;
}

std::string record_json(const DeployedRecord& record) {
  Json json = {{"rushlight_record", 1},
               {"image_crc", hex(record.image_crc)},
               {"image_bytes", record.image_bytes},
               {"inputs", hex_list(record.inputs)},
               {"outputs", hex_list(record.outputs)},
               {"layers", Json::object()}};
  for (const auto& [name, crc] : record.layers) json["layers"][name] = hex(crc);
  return json.dump(2);
}

DeployedRecord parse_record(const std::string& text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    if (json.at("rushlight_record") != 1) throw std::out_of_range("version");
    DeployedRecord record{.image_crc = number(json.at("image_crc")),
                          .image_bytes = json.at("image_bytes"),
                          .inputs = numbers(json.at("inputs")),
                          .outputs = numbers(json.at("outputs")),
                          .layers = {}};
    for (const auto& [name, crc] : json.at("layers").items()) record.layers.emplace_back(name, number(crc));
    return record;
  } catch (const std::exception&) {
    throw UserError(file + " is no record of this version",
                    "make one: rushlight compare MODEL.pt2 --input x.npy --record FILE");
  }
}

std::vector<std::string> differences(const DeployedRecord& recorded, const DeployedRecord& now) {
  std::vector<std::string> found;
  if (recorded.image_crc != now.image_crc || recorded.image_bytes != now.image_bytes)
    found.push_back(fmt::format("the image is another one: {} with {} bytes was recorded, now {} with {}",
                                hex(recorded.image_crc), recorded.image_bytes, hex(now.image_crc), now.image_bytes));
  compare_samples("inputs", recorded.inputs, now.inputs, found);
  if (recorded.inputs.size() == now.inputs.size()) compare_samples("outputs", recorded.outputs, now.outputs, found);
  compare_layers(recorded, now, found);
  return found;
}

}  // namespace rush
