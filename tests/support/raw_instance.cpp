// SPDX-License-Identifier: Apache-2.0
#include "tests/support/raw_instance.h"

#include <cstddef>
#include <cstring>

#include "rushlight/crc32.h"

namespace rush {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr size_t kGuard = 0;
#else
constexpr size_t kGuard = 64;
#endif
constexpr uint8_t kGuardByte = 0xC3;
constexpr size_t kContextBytes = RUSH_CONTEXT_BYTES(16);

uint32_t guarded_bytes(const AlignedBytes& region) { return static_cast<uint32_t>(region.size() - kGuard); }

}  // namespace

void seal_image(std::vector<uint8_t>& image) {
  if (image.size() < sizeof(ImageHeader)) return;
  ImageHeader header;
  std::memcpy(&header, image.data(), sizeof header);
  if (header.image_bytes < sizeof header || header.image_bytes > image.size()) return;
  const size_t covered = offsetof(ImageHeader, version_major);
  header.crc = crc32(image.data() + covered, header.image_bytes - covered);
  std::memcpy(image.data(), &header, sizeof header);
}

RawInstance::RawInstance(const ImageReader& like, std::span<const uint8_t> blob)
    : blob_(blob), context_(kContextBytes + kGuard) {
  std::vector<rush_memory> memories;
  for (const ImageRegion& region : like.regions()) {
    regions_.emplace_back(region.bytes + kGuard);
    std::memset(regions_.back().data(), kGuardByte, regions_.back().size());
    memories.push_back({regions_.back().data(), region.bytes});
  }
  std::memset(context_.data(), kGuardByte, context_.size());
  const rush_model model = {blob_.data(), static_cast<uint32_t>(blob_.size()), &like.host_kernels().table};
  status_ = rush_open(context(), kContextBytes, &model, memories.data(), static_cast<uint32_t>(memories.size()));
}

bool RawInstance::run_all(uint64_t max_bands) {
  for (uint32_t entry = 0; entry < rush_entry_count(context()); ++entry) {
    rush_status status = rush_begin(context(), entry);
    for (uint64_t bands = 0; status == RUSH_OK || status == RUSH_RUNNING; ++bands) {
      if (bands > max_bands) return false;
      status = rush_step(context());
      if (status == RUSH_OK) break;
    }
    if (status != RUSH_OK && status != RUSH_NEEDS_ROWS) return false;
  }
  return true;
}

bool RawInstance::guards_intact() const {
  const auto intact = [](const AlignedBytes& memory) {
    for (size_t i = guarded_bytes(memory); i < memory.size(); ++i) {
      if (memory.data()[i] != kGuardByte) return false;
    }
    return true;
  };
  for (const AlignedBytes& region : regions_) {
    if (!intact(region)) return false;
  }
  return intact(context_);
}

}  // namespace rush
