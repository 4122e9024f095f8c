// SPDX-License-Identifier: Apache-2.0
//
// Header and section table are checked here, for the sake of clear messages; all the rest by rush_open() itself.
#include "compiler/emit/image_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "compiler/emit/emit.h"
#include "compiler/emit/names.h"
#include "ops/wide_kernels.h"
#include "rushlight/crc32.h"

namespace rush {
namespace {

constexpr uint32_t kCovered = offsetof(ImageHeader, version_major);

struct DTypeCode {
  uint8_t code;
  DType dtype;
};
constexpr std::array kDTypeCodes = {DTypeCode{RUSH_INT8, DType::kInt8},       DTypeCode{RUSH_UINT8, DType::kUInt8},
                                    DTypeCode{RUSH_INT16, DType::kInt16},     DTypeCode{RUSH_INT32, DType::kInt32},
                                    DTypeCode{RUSH_INT64, DType::kInt64},     DTypeCode{RUSH_FLOAT32, DType::kFloat32},
                                    DTypeCode{RUSH_FLOAT16, DType::kFloat16}, DTypeCode{RUSH_BOOL, DType::kBool}};

[[noreturn]] void fail(const std::string& name, const std::string& what,
                       const std::string& fix = "compile the model again, or copy the file again") {
  throw UserError(name + " " + what, fix);
}

/// RAM of which only what weights are copied to is touched, and they are no more than the image: otherwise verifying
/// only asks how much there is.
std::vector<rush_memory> endless_memories(AlignedBytes& copies) {
  return std::vector<rush_memory>(RUSH_MAX_REGIONS - 1, {copies.data(), 0xffffffffu});
}

rush_status open_status(std::span<const uint8_t> aligned_image, const rush_kernel_table& kernels) {
  const auto& header = *reinterpret_cast<const ImageHeader*>(aligned_image.data());
  const size_t context_bytes = RUSH_CONTEXT_BYTES(std::min(header.max_chain_steps, 0x10000u));
  std::vector<uint64_t> context(context_bytes / 8 + 1);
  const rush_model model = {aligned_image.data(), static_cast<uint32_t>(aligned_image.size()), &kernels};
  AlignedBytes copies(aligned_image.size());
  const std::vector<rush_memory> memories = endless_memories(copies);
  return rush_open(reinterpret_cast<rush_context*>(context.data()), context.size() * 8, &model, memories.data(),
                   static_cast<uint32_t>(memories.size()));
}

double exact_scale(const rush_io& io) {
  double scale = 0;
  std::memcpy(&scale, io.exact_scale, sizeof scale);
  return scale;
}

std::string why(rush_status status) {
  switch (status) {
    case RUSH_BAD_STEP:
      return "has a step whose kernel, parameters, operands or chain do not hold";
    case RUSH_BAD_IMAGE:
      return "has a section that does not hold";
    case RUSH_BAD_VERSION:
      return "needs a newer version of rushlight";
    default:
      return fmt::format("cannot be opened (status {})", int(status));
  }
}

}  // namespace

std::optional<DType> image_dtype(uint8_t code) {
  const auto it = std::ranges::find(kDTypeCodes, code, &DTypeCode::code);
  return it == kDTypeCodes.end() ? std::nullopt : std::optional(it->dtype);
}

uint8_t image_dtype(DType dtype) {
  const auto it = std::ranges::find(kDTypeCodes, dtype, &DTypeCode::dtype);
  internal_check(it != kDTypeCodes.end(), fmt::format("an image has no code for {}", dtype_name(dtype)));
  return it->code;
}

Shape ImagePort::memory_shape() const {
  Shape shape;
  for (const int axis : dim_order) shape.push_back(exported_shape.at(static_cast<size_t>(axis)));
  return shape;
}

std::optional<Quant> ImagePort::border() const {
  return exported_dtype == DType::kFloat32 && dtype != DType::kFloat32 ? quant : std::nullopt;
}

ImageReader::ImageReader(std::span<const uint8_t> image, const std::string& name, bool wide) : bytes_(image) {
  check_header(name);
  check_sections(name);
  names_ = names_behind(bytes_.span());
  make_kernels(name, wide);
  if (const rush_status status = open_status(bytes_.span(), kernels_->table); status != RUSH_OK)
    fail(name, why(status));
  for (const rush_io& each : io()) check_port(name, each);
  for (const ImageEntry& each : entries()) check_feeds(name, each);
}

void ImageReader::check_header(const std::string& name) const {
  const size_t given = bytes_.size();
  if (given < sizeof(ImageHeader) || header().magic != kMagic)
    fail(name, "is not a Rushlight image", "give a model.rush that `rushlight compile` wrote");
  const ImageHeader& h = header();
  if (h.version_major != kVersionMajor)
    fail(name,
         fmt::format("has image format {}.{}, this rushlight reads {}.x", h.version_major, h.version_minor,
                     int(kVersionMajor)),
         "compile the model again with this version");
  if (h.image_bytes > given || h.image_bytes < sizeof h)
    fail(name, fmt::format("is truncated: {} bytes of {}", given, h.image_bytes));
  const uint32_t crc = crc32(bytes_.data() + kCovered, h.image_bytes - kCovered);
  if (crc != h.crc) fail(name, fmt::format("is damaged: its CRC-32 is {:08x}, it says {:08x}", crc, h.crc));
}

void ImageReader::check_sections(const std::string& name) const {
  const ImageHeader& h = header();
  const size_t table_end = sizeof h + h.section_count * sizeof(ImageSection);
  if (h.isa > static_cast<uint16_t>(Isa::kMve) || h.section_count < kFixedSections || table_end > h.image_bytes)
    fail(name, why(RUSH_BAD_IMAGE));
  for (const ImageSection& s : sections()) {
    if (s.offset % 4 != 0 || s.offset > h.image_bytes || s.bytes > h.image_bytes - s.offset)
      fail(name, why(RUSH_BAD_IMAGE));
  }
}

/// The host relies on more than a device does: that a port's shape has as many elements as it has bytes, and that
/// its scale is one.
void ImageReader::check_port(const std::string& name, const rush_io& io) const {
  const auto dtype = image_dtype(io.dtype);
  if (!dtype || !image_dtype(io.exported_dtype))
    fail(name, fmt::format("has an input or output of unknown type {}", io.dtype));
  uint64_t size = dtype_bytes(*dtype);
  uint32_t axes = 0;
  for (size_t i = 0; i < io.rank; ++i) {
    size = std::min<uint64_t>(size * std::min(io.dims[i], 0x10000000u), 0x100000000u);
    axes |= 1u << io.dim_order[i];
  }
  if (size != io.bytes || axes != (1u << io.rank) - 1)
    fail(name, "has an input or output whose shape does not fit its bytes");
  if (io.scale != 0 && !(exact_scale(io) > 0 && std::isfinite(exact_scale(io))))
    fail(name, "has an input or output with an impossible scale");
}

/// The rows that an entry's steps wait for are those of its one input that is fed, so that a run can give them all.
void ImageReader::check_feeds(const std::string& name, const ImageEntry& entry) const {
  std::vector<uint64_t> given, wanted;
  for (const rush_io& each : io().subspan(entry.first_input, entry.input_count)) {
    if ((each.flags & RUSH_IO_LINE_FED) != 0) given.push_back(each.bytes);
  }
  for (const ImageChain& chain : chains().subspan(entry.first_chain, entry.chain_count)) {
    for (const ImageStep& step : steps().subspan(chain.first_step, chain.step_count)) {
      if (family(step).host->contract->written != 0) continue;
      const auto& feed = *reinterpret_cast<const FeedParams*>(params(step));
      wanted.push_back(uint64_t{feed.rows} * feed.map.row_bytes);
    }
  }
  if (given != wanted || given.size() > 1)
    fail(name, "has steps that wait for other rows than those of an input that is fed row by row");
}

void ImageReader::make_kernels(const std::string& name, bool wide) {
  for (const uint16_t id : kernel_ids()) {
    const KernelFamily* family = find_kernel_family(id);
    if (family == nullptr)
      fail(name, fmt::format("uses kernel {}, which this rushlight does not know", id),
           "use the version that compiled it, or compile the model again");
    const WideKernel* wide_kernel = wide ? find_wide_kernel(family->name) : nullptr;
    kernels_->entries.push_back({wide_kernel ? wide_kernel->run : family->host->run, family->host->contract});
  }
  kernels_->table = {header().kernel_table_id, static_cast<uint16_t>(kernels_->entries.size()), header().isa,
                     kernels_->entries.data()};
  if (kernel_table_id(isa(), kernel_ids()) != header().kernel_table_id || kernels_->entries.size() > 0xffff)
    fail(name, why(RUSH_BAD_IMAGE));
}

std::span<const ImageSection> ImageReader::sections() const {
  return {reinterpret_cast<const ImageSection*>(bytes_.data() + sizeof(ImageHeader)), header().section_count};
}

const ImageSection* ImageReader::find(SectionKind kind) const {
  const auto it = std::ranges::find(sections(), static_cast<uint16_t>(kind), &ImageSection::kind);
  return it == sections().end() ? nullptr : &*it;
}

std::string ImageReader::string(uint32_t offset) const {
  const std::span<const char> strings = all<char>(SectionKind::kStrings);
  return offset < strings.size() ? strings.data() + offset : "";
}

std::vector<std::string> ImageReader::labels() const {
  std::vector<std::string> labels;
  for (const uint32_t offset : all<uint32_t>(SectionKind::kLabels)) labels.push_back(string(offset));
  return labels;
}

const KernelFamily& ImageReader::family(const ImageStep& step) const {
  return *find_kernel_family(kernel_ids()[step.kernel]);
}

const uint8_t* ImageReader::params(const ImageStep& step) const {
  return all<uint8_t>(SectionKind::kParams).data() + step.params;
}

std::span<const uint32_t> ImageReader::operands(const ImageStep& step) const {
  return all<uint32_t>(SectionKind::kOperands).subspan(step.first_operand, family(step).host->contract->operand_count);
}

Origin ImageReader::origin(size_t step) const {
  if (debug().empty() && step < names_.size()) return names_[step];
  if (step >= debug().size()) return {.layer = fmt::format("step {}", step), .source = {}};
  return {string(debug()[step].layer), string(debug()[step].source)};
}

ImagePort ImageReader::port(const rush_io& io) const {
  ImagePort port{.name = string(io.name),
                 .dtype = *image_dtype(io.dtype),
                 .exported_dtype = *image_dtype(io.exported_dtype),
                 .exported_shape = {io.dims, io.dims + io.rank},
                 .dim_order = {io.dim_order, io.dim_order + io.rank},
                 .quant = {},
                 .bytes = io.bytes};
  if (io.scale != 0)
    port.quant = Quant{
        .scale = {exact_scale(io)}, .zero_point = {io.zero_point}, .axis = -1, .min = io.code_min, .max = io.code_max};
  return port;
}

std::vector<ImagePort> ImageReader::inputs(size_t entry) const {
  std::vector<ImagePort> ports;
  const ImageEntry& e = entries()[entry];
  for (const rush_io& each : io().subspan(e.first_input, e.input_count)) ports.push_back(port(each));
  return ports;
}

std::vector<ImagePort> ImageReader::outputs(size_t entry) const {
  std::vector<ImagePort> ports;
  const ImageEntry& e = entries()[entry];
  for (const rush_io& each : io().subspan(e.first_output, e.output_count)) ports.push_back(port(each));
  return ports;
}

std::optional<size_t> ImageReader::find_entry(const std::string& name) const {
  for (size_t i = 0; i < entries().size(); ++i) {
    if (string(entries()[i].name) == name) return i;
  }
  return std::nullopt;
}

std::string_view region_kind_name(RegionKind kind) {
  return kind == RegionKind::kState ? "state" : kind == RegionKind::kWeights ? "weights" : "arena";
}

}  // namespace rush
