// SPDX-License-Identifier: Apache-2.0
#include "tests/support/device_suite.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "boards/records.h"
#include "ops/op_def.h"
#include "rushlight/image.h"

namespace rush {
namespace {

const char* suite_directory() { return std::getenv("RUSH_DEVICE_SUITE"); }

ImageHeader header_of(const std::vector<uint8_t>& image) {
  ImageHeader header;
  internal_check(image.size() >= sizeof header, "record_case: no image");
  std::memcpy(&header, image.data(), sizeof header);
  return header;
}

std::vector<ImageRegion> regions_of(const std::vector<uint8_t>& image) {
  ImageSection section;
  std::memcpy(&section, image.data() + sizeof(ImageHeader), sizeof section);
  std::vector<ImageRegion> regions(section.count);
  internal_check(
      section.count < RUSH_MAX_REGIONS && section.offset + section.count * sizeof(ImageRegion) <= image.size(),
      "record_case: no regions");
  std::memcpy(regions.data(), image.data() + section.offset, regions.size() * sizeof(ImageRegion));
  return regions;
}

std::vector<uint8_t> joined(const std::vector<HostTensor>& tensors) {
  std::vector<uint8_t> bytes;
  for (const HostTensor& tensor : tensors) bytes.insert(bytes.end(), tensor.raw(), tensor.raw() + tensor.bytes());
  return bytes;
}

void append_padded(std::vector<uint8_t>& out, const std::vector<uint8_t>& bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
  out.resize(out.size() + padded(static_cast<uint32_t>(bytes.size())) - bytes.size());
}

/// What all records have in common that run with the memory of an image.
RecordHeader header_for(const std::vector<uint8_t>& image) {
  RecordHeader header = {};
  header.magic = kRecordMagic;
  header.chain_steps = header_of(image).max_chain_steps;
  const std::vector<ImageRegion> regions = regions_of(image);
  header.region_count = static_cast<uint32_t>(regions.size());
  for (size_t i = 0; i < regions.size(); ++i) header.region_bytes[i] = regions[i].bytes;
  return header;
}

void append_record(std::vector<uint8_t>& out, const RecordHeader& common, const std::vector<uint8_t>& image,
                   const SuiteRun& run) {
  const std::vector<uint8_t> input = joined(run.inputs), output = joined(run.outputs);
  RecordHeader header = common;
  header.flags =
      (image.empty() ? kSameInstance : 0u) | (run.band_by_band ? kBandByBand : 0u) | (run.in_pieces ? kInPieces : 0u);
  header.image_bytes = static_cast<uint32_t>(image.size());
  header.input_bytes = static_cast<uint32_t>(input.size());
  header.output_bytes = static_cast<uint32_t>(output.size());
  header.entry = run.entry;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&header);
  out.insert(out.end(), bytes, bytes + sizeof header);
  append_padded(out, image);
  append_padded(out, input);
  append_padded(out, output);
}

/// One write, so that tests in parallel processes do not mix their cases.
void append_to(const std::string& path, const char* data, size_t size) {
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file.write(data, static_cast<std::streamsize>(size));
  internal_check(file.good(), "cannot write " + path);
}

void append_to_suite(const std::vector<uint8_t>& like, const std::vector<uint8_t>& records, const std::string& names) {
  const Isa isa = static_cast<Isa>(header_of(like).isa);
  const std::string base = std::string(suite_directory()) + "/" + std::string(isa_name(isa));
  append_to(base + ".suite", reinterpret_cast<const char*>(records.data()), records.size());
  append_to(base + ".txt", names.data(), names.size());
}

}  // namespace

void record_case(const SuiteCase& suite_case) {
  if (suite_directory() == nullptr) return;
  const RecordHeader common = header_for(suite_case.image);
  std::vector<uint8_t> records;
  std::string names;
  for (const SuiteRun& run : suite_case.runs) {
    append_record(records, common, records.empty() ? suite_case.image : std::vector<uint8_t>(), run);
    names += suite_case.name + "\n";
  }
  append_to_suite(suite_case.image, records, names);
}

void record_case(const RefusedCase& refused) {
  if (suite_directory() == nullptr) return;
  RecordHeader common = header_for(refused.like);
  common.expected_status = static_cast<uint32_t>(refused.status);
  std::vector<uint8_t> records;
  append_record(records, common, refused.image, {});
  append_to_suite(refused.like, records, refused.name + "\n");
}

}  // namespace rush
