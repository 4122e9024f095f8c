// SPDX-License-Identifier: Apache-2.0
#include "compiler/host/host_image.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "ops/wide_kernels.h"
#include "rushlight/crc32.h"

namespace rush {
namespace {

constexpr uint32_t kArena = 1;  // the region that grows

struct StepParts {
  const ImageStep& step;
  const KernelFamily& family;
  const uint8_t* params;
  Extents extents;
};

uint32_t region_of(uint32_t operand) { return operand >> kOperandRegionShift; }
uint32_t offset_of(uint32_t operand) { return operand & kOperandOffsetMask; }

class HostImage {
 public:
  HostImage(const ImageReader& image, const std::string& name)
      : image_(image), name_(name), bytes_(image.bytes().begin(), image.bytes().begin() + image.header().image_bytes) {}

  std::vector<uint8_t> make() {
    for (const ImageStep& step : image_.steps()) adapt(step);
    if (scratch_bytes_ > 0) enlarge_arena();
    seal();
    return std::move(bytes_);
  }

 private:
  void adapt(const ImageStep& step) {
    StepParts parts{step, image_.family(step), image_.params(step), {}};
    parts.family.host->contract->extents(parts.params, &parts.extents);
    const bool is_packed_otherwise = image_.isa() != Isa::kScalar || find_wide_kernel(parts.family.name) != nullptr;
    if (parts.family.host->packing.operand >= 0 && is_packed_otherwise) repack(parts);
    if (parts.family.host->scratch_operand >= 0 && parts.family.host->scalar_scratch != nullptr) extend_scratch(parts);
  }

  void set_operand(const StepParts& parts, int operand, uint32_t value) {
    const ImageSection& section = image_.sections()[static_cast<size_t>(SectionKind::kOperands) - 1];
    const size_t index = parts.step.first_operand + static_cast<size_t>(operand);
    std::memcpy(bytes_.data() + section.offset + index * sizeof value, &value, sizeof value);
  }

  void repack(const StepParts& parts) {
    const Packing& packing = parts.family.host->packing;
    const uint32_t operand = image_.operands(parts.step)[static_cast<size_t>(packing.operand)];
    const auto key = std::pair(operand, parts.step.params);
    if (!repacked_.contains(key)) repacked_[key] = append(packed_for_host(parts, operand));
    set_operand(parts, packing.operand, repacked_[key]);
  }

  /// Of a constant, or of what it was copied from.
  std::optional<size_t> place_in_image(uint32_t operand) const {
    if (region_of(operand) == 0) return offset_of(operand);
    if (region_of(operand) > image_.regions().size()) return std::nullopt;
    const ImageRegion& region = image_.regions()[region_of(operand) - 1];
    if (region.kind != static_cast<uint8_t>(RegionKind::kWeights)) return std::nullopt;
    return size_t{region.source} + offset_of(operand);
  }

  std::vector<uint8_t> packed_for_host(const StepParts& parts, uint32_t operand) const {
    const Packing& packing = parts.family.host->packing;
    const std::span<const uint8_t> image(bytes_.data(), image_.header().image_bytes);
    const size_t size = packing.packed_count(image_.isa(), parts.params) * packing.element_bytes;
    const auto offset = place_in_image(operand);
    if (!offset || *offset > image.size() || size > image.size() - *offset)
      throw UserError(name_ + " has packed weights that do not lie in it", "compile the model again");
    const std::vector<uint8_t> canonical = unpack(packing, image_.isa(), parts.params, image.subspan(*offset, size));
    const WideKernel* wide = find_wide_kernel(parts.family.name);
    std::vector<uint8_t> packed =
        wide ? wide->weights(parts.params, canonical) : pack(packing, Isa::kScalar, parts.params, canonical);
    packed.resize(std::max<size_t>(packed.size(), parts.extents.bytes[packing.operand]));
    return packed;
  }

  /// Adds bytes to the end of the image and returns their operand.
  uint32_t append(const std::vector<uint8_t>& data) {
    bytes_.resize((bytes_.size() + RUSH_ALIGNMENT - 1) / RUSH_ALIGNMENT * RUSH_ALIGNMENT);
    const size_t offset = bytes_.size();
    bytes_.insert(bytes_.end(), data.begin(), data.end());
    if (bytes_.size() > kOperandOffsetMask)
      throw UserError(name_ + " is too large to run on the host", "split the model");
    return static_cast<uint32_t>(offset);
  }

  /// Scratch that is too small moves behind the arena, where all steps share it.
  void extend_scratch(const StepParts& parts) {
    const int operand = parts.family.host->scratch_operand;
    const uint32_t needed = parts.family.host->scalar_scratch(parts.params);
    if (needed <= parts.extents.bytes[operand] || image_.regions().empty()) return;
    scratch_bytes_ = std::max(scratch_bytes_, needed);
    set_operand(parts, operand, kArena << kOperandRegionShift | arena_end());
  }

  uint32_t arena_end() const {
    return (image_.regions()[kArena - 1].bytes + RUSH_ALIGNMENT - 1) & ~uint32_t{RUSH_ALIGNMENT - 1};
  }

  void enlarge_arena() {
    const ImageSection& section = image_.sections()[static_cast<size_t>(SectionKind::kRegions) - 1];
    ImageRegion arena = image_.regions()[kArena - 1];
    arena.bytes = saturating_add(arena_end(), scratch_bytes_);
    std::memcpy(bytes_.data() + section.offset + (kArena - 1) * sizeof arena, &arena, sizeof arena);
  }

  void seal() {
    ImageHeader header = image_.header();
    header.image_bytes = static_cast<uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &header, sizeof header);
    const size_t covered = offsetof(ImageHeader, version_major);
    header.crc = crc32(bytes_.data() + covered, bytes_.size() - covered);
    std::memcpy(bytes_.data(), &header, sizeof header);
  }

  const ImageReader& image_;
  const std::string& name_;
  std::vector<uint8_t> bytes_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> repacked_;  ///< by old operand and parameters
  uint32_t scratch_bytes_ = 0;
};

}  // namespace

std::vector<uint8_t> host_image(const ImageReader& image, const std::string& name) {
  return HostImage(image, name).make();
}

}  // namespace rush
