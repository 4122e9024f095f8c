// SPDX-License-Identifier: Apache-2.0
//
// An image on the host, of any target. What the constructor accepts has passed the device's own rush_open() with
// the host's kernels, so that the accessors need no checks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/host/aligned_bytes.h"
#include "compiler/ir/tensor.h"
#include "ops/op_def.h"
#include "rushlight/image.h"
#include "rushlight/kernel.h"

namespace rush {

/// One input or output of an entry.
struct ImagePort {
  std::string name;
  DType dtype = DType::kInt8;  ///< of the codes in memory
  DType exported_dtype = DType::kFloat32;
  Shape exported_shape;
  std::vector<int> dim_order;  ///< axis at each memory position, outermost first
  std::optional<Quant> quant;  ///< what the codes in memory mean
  uint32_t bytes = 0;

  Shape memory_shape() const;
  /// Set where the exported input or output is float and the memory holds codes.
  std::optional<Quant> border() const;
};

/// Kernels of the host in the order of an image's kernel section.
struct HostKernels {
  std::vector<KernelEntry> entries;
  rush_kernel_table table = {};
};

class ImageReader {
 public:
  /// Throws a UserError that begins with `name` if the bytes are no image, of another version, truncated or damaged.
  /// `wide`: the bytes come from host_image(), and the kernels are those that it made them for.
  explicit ImageReader(std::span<const uint8_t> image, const std::string& name = "the image", bool wide = false);

  /// The image, without what lies behind it.
  std::span<const uint8_t> bytes() const { return bytes_.span().first(header().image_bytes); }
  const ImageHeader& header() const { return *reinterpret_cast<const ImageHeader*>(bytes_.data()); }
  Isa isa() const { return static_cast<Isa>(header().isa); }
  std::span<const ImageSection> sections() const;
  std::span<const ImageRegion> regions() const { return all<ImageRegion>(SectionKind::kRegions); }
  std::span<const ImageEntry> entries() const { return all<ImageEntry>(SectionKind::kEntries); }
  std::span<const rush_io> io() const { return all<rush_io>(SectionKind::kIo); }
  std::span<const ImageChain> chains() const { return all<ImageChain>(SectionKind::kChains); }
  std::span<const ImageLink> links() const { return all<ImageLink>(SectionKind::kLinks); }
  std::span<const ImageStep> steps() const { return all<ImageStep>(SectionKind::kSteps); }
  std::span<const uint16_t> kernel_ids() const { return all<uint16_t>(SectionKind::kKernels); }
  /// One for each step, or none.
  std::span<const ImageDebug> debug() const { return all<ImageDebug>(SectionKind::kDebug); }

  std::string string(uint32_t offset) const;  ///< empty for an offset that is no string
  std::vector<std::string> labels() const;
  const KernelFamily& family(const ImageStep& step) const;
  const uint8_t* params(const ImageStep& step) const;
  std::span<const uint32_t> operands(const ImageStep& step) const;
  Origin origin(size_t step) const;  ///< from the image, or from behind it (names.h)
  ImagePort port(const rush_io& io) const;
  std::vector<ImagePort> inputs(size_t entry) const;
  std::vector<ImagePort> outputs(size_t entry) const;
  std::optional<size_t> find_entry(const std::string& name) const;

  /// Host kernels that run this image; they live as long as the reader.
  const HostKernels& host_kernels() const { return *kernels_; }

 private:
  const ImageSection* find(SectionKind kind) const;
  template <class T>
  std::span<const T> all(SectionKind kind) const {
    const ImageSection* section = find(kind);
    if (section == nullptr) return {};
    return {reinterpret_cast<const T*>(bytes_.data() + section->offset), section->bytes / sizeof(T)};
  }
  void check_header(const std::string& name) const;
  void check_sections(const std::string& name) const;
  void check_port(const std::string& name, const rush_io& io) const;
  void check_feeds(const std::string& name, const ImageEntry& entry) const;
  void make_kernels(const std::string& name, bool wide);

  AlignedBytes bytes_;
  std::vector<Origin> names_;  ///< of the steps, from behind the image
  std::unique_ptr<HostKernels> kernels_ = std::make_unique<HostKernels>();
};

std::optional<DType> image_dtype(uint8_t code);
uint8_t image_dtype(DType dtype);  ///< InternalError for a type that an image cannot hold

/// "arena", "state", "weights".
std::string_view region_kind_name(RegionKind kind);

}  // namespace rush
