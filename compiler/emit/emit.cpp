// SPDX-License-Identifier: Apache-2.0
//
// The image is written section by section, constants first, since their places go into the operands.
#include "compiler/emit/emit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "compiler/emit/image_reader.h"
#include "compiler/plan/cost.h"
#include "ops/op_def.h"
#include "rushlight/crc32.h"

namespace rush {
namespace {

static_assert(std::endian::native == std::endian::little, "images are written as the structs lie in memory");

/// Stack of the core itself, the largest of all cores and compilers, measured with -fstack-usage: rush_run with
/// rush_step and run_band; rush_open with an extents function.
constexpr uint32_t kRunStack = 192;
constexpr uint32_t kOpenStack = 352;

size_t round_up(size_t bytes, size_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

/// Zero-terminated strings, each once.
class StringTable {
 public:
  uint32_t add(const std::string& text) {
    const auto [it, is_new] = offsets_.try_emplace(text, static_cast<uint32_t>(bytes_.size()));
    if (is_new) bytes_.insert(bytes_.end(), text.c_str(), text.c_str() + std::strlen(text.c_str()) + 1);
    return it->second;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::map<std::string, uint32_t> offsets_;
  std::vector<uint8_t> bytes_;
};

/// Parameter structs, equal ones once, 4-byte aligned.
class ParamsTable {
 public:
  uint32_t add(const std::vector<uint8_t>& params) {
    const auto [it, is_new] = offsets_.try_emplace(params, static_cast<uint32_t>(bytes_.size()));
    if (is_new) {
      bytes_.insert(bytes_.end(), params.begin(), params.end());
      bytes_.resize(round_up(bytes_.size(), 4));
    }
    return it->second;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::map<std::vector<uint8_t>, uint32_t> offsets_;
  std::vector<uint8_t> bytes_;
};

/// Sections in the order of writing; the table in front of them has room for `section_count`. The first lies at a
/// multiple of RUSH_ALIGNMENT.
class SectionWriter {
 public:
  explicit SectionWriter(uint16_t section_count)
      : bytes_(round_up(sizeof(ImageHeader) + section_count * sizeof(ImageSection), RUSH_ALIGNMENT)) {}

  /// Where the next section will begin.
  uint32_t next_offset() const { return static_cast<uint32_t>(bytes_.size()); }

  template <class T>
  void add(SectionKind kind, const std::vector<T>& elements) {
    const size_t size = elements.size() * sizeof(T);
    sections_[kind] = {static_cast<uint16_t>(kind), 0, next_offset(), static_cast<uint32_t>(size),
                       static_cast<uint32_t>(elements.size())};
    const auto* first = reinterpret_cast<const uint8_t*>(elements.data());
    bytes_.insert(bytes_.end(), first, first + size);
    bytes_.resize(round_up(bytes_.size(), 4));
  }

  /// Fills in sizes, section table and CRC.
  std::vector<uint8_t> finish(ImageHeader header) {
    header.image_bytes = static_cast<uint32_t>(bytes_.size());
    header.section_count = static_cast<uint16_t>(sections_.size());
    size_t at = sizeof header;
    for (const auto& [kind, section] : sections_) {
      std::memcpy(bytes_.data() + at, &section, sizeof section);
      at += sizeof section;
    }
    std::memcpy(bytes_.data(), &header, sizeof header);
    const size_t covered = offsetof(ImageHeader, version_major);
    header.crc = crc32(bytes_.data() + covered, bytes_.size() - covered);
    std::memcpy(bytes_.data(), &header, sizeof header);
    return std::move(bytes_);
  }

 private:
  std::vector<uint8_t> bytes_;
  std::map<SectionKind, ImageSection> sections_;
};

class ImageEmitter {
 public:
  ImageEmitter(const Program& program, const EmitOptions& options)
      : program_(program), options_(options), ids_(kernel_ids(program, options)) {}

  std::vector<uint8_t> emit() {
    SectionWriter writer(
        static_cast<uint16_t>(kFixedSections + 2 + (options_.debug ? 1 : 0) + (options_.costs ? 1 : 0)));
    place_constants(writer);
    make_regions();
    for (const ProgramStep& step : program_.steps) make_step(step);
    make_chains();
    make_entries();
    for (const std::string& label : program_.labels) labels_.push_back(strings_.add(label));
    write(writer);
    return writer.finish(header());
  }

 private:
  void place_constants(SectionWriter& writer) {
    const uint32_t base = writer.next_offset();
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      if (buffer.kind != BufferKind::kConstant || buffer.view_of || buffer.region != 0) continue;
      bytes.resize(round_up(bytes.size(), std::max(buffer.alignment, 4u)));
      constants_[i] = base + bytes.size();
      bytes.insert(bytes.end(), buffer.data.begin(), buffer.data.end());
      if (base + bytes.size() > kOperandOffsetMask) throw too_large();
    }
    for (size_t r = 0; r < program_.regions.size(); ++r) place_copied(r, base, bytes);
    writer.add(SectionKind::kConstants, bytes);
  }

  /// What rush_open() copies to a region lies as it will lie there.
  void place_copied(size_t region, uint32_t base, std::vector<uint8_t>& bytes) {
    sources_.push_back(0);
    if (program_.regions[region].kind != RegionKind::kWeights) return;
    bytes.resize(round_up(bytes.size(), RUSH_ALIGNMENT));
    sources_.back() = static_cast<uint32_t>(base + bytes.size());
    const size_t start = bytes.size();
    bytes.resize(start + program_.regions[region].bytes);
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.kind != BufferKind::kConstant || buffer.view_of || buffer.region != region + 1) continue;
      std::ranges::copy(buffer.data, bytes.begin() + static_cast<ptrdiff_t>(start + buffer.offset));
    }
    if (base + bytes.size() > kOperandOffsetMask) throw too_large();
  }

  static UserError too_large() {
    return UserError(fmt::format("the model's weights need more than the {} MiB that an image can address",
                                 (kOperandOffsetMask + 1) >> 20),
                     "use a smaller model");
  }

  /// region << 28 | offset of a buffer's byte 0.
  uint32_t place_of(BufferId id) const {
    const Buffer& buffer = program_[id];
    if (buffer.view_of) return place_of(*buffer.view_of) + buffer.view_offset;
    if (buffer.kind != BufferKind::kConstant || buffer.region != 0)
      return static_cast<uint32_t>(buffer.region) << kOperandRegionShift | buffer.offset;
    return static_cast<uint32_t>(constants_.at(static_cast<size_t>(id.index)));
  }

  /// A missing operand has no bytes; where it could be written it still must not point into the image.
  uint32_t operand_of(const ProgramStep& step, size_t i) const {
    const OperandRef& operand = step.operands[i];
    if (operand.buffer.valid()) return place_of(operand.buffer) + operand.offset;
    return (step.family->host->contract->written >> i & 1) != 0 ? 1u << kOperandRegionShift : 0;
  }

  void make_regions() {
    for (size_t r = 0; r < program_.regions.size(); ++r) {
      const RegionUse& region = program_.regions[r];
      regions_.push_back({strings_.add(region.name), region.bytes, static_cast<uint8_t>(region.kind), {}, sources_[r]});
    }
  }

  void fail(const ProgramStep& step, const std::string& why) const {
    throw InternalError(fmt::format("step \"{}\" ({}): {}", step.name, step.family->name, why));
  }

  /// What rush_open() will check of the step, but buffer by buffer.
  void check_step(const ProgramStep& step) const {
    const KernelContract& contract = *step.family->host->contract;
    if (step.operands.size() != contract.operand_count) fail(step, "wrong number of operands");
    if (step.params.size() != contract.params_bytes) fail(step, "parameters of another size than the kernel's");
    Extents extents = {};
    if (!contract.extents(step.params.data(), &extents)) fail(step, "parameters that the kernel refuses");
    if (extents.rows != step.rows) fail(step, fmt::format("{} rows, the kernel has {}", step.rows, extents.rows));
    for (size_t i = 0; i < step.operands.size(); ++i) check_operand(step, i, extents.bytes[i]);
  }

  void check_operand(const ProgramStep& step, size_t i, uint32_t bytes) const {
    const OperandRef& operand = step.operands[i];
    const uint32_t size = operand.buffer.valid() ? program_[operand.buffer].bytes : 0;
    if (operand.offset > size || bytes > size - operand.offset)
      fail(step, fmt::format("operand {} touches {} bytes at {} of a buffer of {}", i, bytes, operand.offset, size));
  }

  void make_step(const ProgramStep& step) {
    check_step(step);
    const auto kernel = std::ranges::find(ids_, step.family->id) - ids_.begin();
    steps_.push_back(
        {static_cast<uint16_t>(kernel), step.rows, params_.add(step.params), static_cast<uint32_t>(operands_.size())});
    for (size_t i = 0; i < step.operands.size(); ++i) operands_.push_back(operand_of(step, i));
    if (options_.debug) debug_.push_back({strings_.add(step.origin.layer), strings_.add(step.origin.source)});
  }

  void make_chains() {
    for (const Chain& chain : program_.chains) {
      chains_.push_back({static_cast<uint16_t>(chain.first_step), static_cast<uint16_t>(chain.step_count),
                         static_cast<uint32_t>(links_.size())});
      for (size_t place = 0; place < chain.links.size(); ++place) links_.push_back(image_link(chain, place));
    }
  }

  static uint16_t last_reader(const Chain& chain, size_t place) {
    size_t last = place;
    for (size_t reader = place + 1; reader < chain.links.size(); ++reader) {
      for (const auto& [producer, dependency] : chain.links[reader].producers) {
        if (producer == chain.first_step + static_cast<int>(place)) last = reader;
      }
    }
    return static_cast<uint16_t>(last);
  }

  static ImageLink image_link(const Chain& chain, size_t place) {
    const ChainLink& link = chain.links[place];
    internal_check(link.producers.size() <= 2, "a step of a chain reads more than two maps of the chain");
    ImageLink out = {link.band_rows, link.first_rows, {kNoProducer, kNoProducer}, {}, {}, 0};
    for (size_t i = 0; i < link.producers.size(); ++i) {
      const auto& [producer, dependency] = link.producers[i];
      out.producer[i] = static_cast<uint16_t>(producer - chain.first_step);
      out.row_stride[i] = static_cast<uint16_t>(dependency.stride);
      out.row_lead[i] = static_cast<int16_t>(dependency.lead);
    }
    out.last_reader = last_reader(chain, place);
    return out;
  }

  void make_entries() {
    for (const Entry& entry : program_.entries) {
      const auto first_input = static_cast<uint16_t>(io_.size());
      const auto first_output = static_cast<uint16_t>(io_.size() + entry.inputs.size());
      for (const ProgramPort& port : entry.inputs) io_.push_back(image_io(port));
      for (const ProgramPort& port : entry.outputs) io_.push_back(image_io(port));
      entries_.push_back({strings_.add(entry.name), static_cast<uint16_t>(entry.first_chain),
                          static_cast<uint16_t>(entry.chain_count), first_input,
                          static_cast<uint16_t>(entry.inputs.size()), first_output,
                          static_cast<uint16_t>(entry.outputs.size())});
    }
  }

  rush_io image_io(const ProgramPort& port) {
    if (port.exported_shape.size() > RUSH_MAX_RANK)
      throw UserError(fmt::format("\"{}\" has {} dimensions, an image can describe {}", port.name,
                                  port.exported_shape.size(), int(RUSH_MAX_RANK)),
                      "export the model with fewer dimensions there");
    rush_io io = {};
    io.name = strings_.add(port.name);
    io.operand = place_of(port.buffer);
    io.bytes =
        static_cast<uint32_t>(element_count(port.exported_shape)) * static_cast<uint32_t>(dtype_bytes(port.type.dtype));
    io.dtype = image_dtype(port.type.dtype);
    io.exported_dtype = image_dtype(port.exported_dtype);
    io.flags = static_cast<uint8_t>((port.line_fed ? RUSH_IO_LINE_FED : 0) | (port.kept ? RUSH_IO_KEPT : 0));
    io.rank = static_cast<uint8_t>(port.exported_shape.size());
    for (size_t i = 0; i < port.exported_shape.size(); ++i) {
      io.dims[i] = static_cast<uint32_t>(port.exported_shape[i]);
      io.dim_order[i] = static_cast<uint8_t>(port.dim_order.at(i));
    }
    if (const auto& quant = port.border ? port.border : port.type.quant; quant && quant->per_tensor())
      describe_quant(*quant, io);
    return io;
  }

  static void describe_quant(const Quant& quant, rush_io& io) {
    const double scale = quant.scale.at(0);
    io.scale = static_cast<float>(scale);
    io.inverse_scale = static_cast<float>(1.0 / scale);
    io.zero_point = static_cast<int32_t>(quant.zero_point.at(0));
    io.code_min = static_cast<int32_t>(quant.min);
    io.code_max = static_cast<int32_t>(quant.max);
    std::memcpy(io.exact_scale, &scale, sizeof scale);
  }

  void write(SectionWriter& writer) const {
    writer.add(SectionKind::kRegions, regions_);
    writer.add(SectionKind::kEntries, entries_);
    writer.add(SectionKind::kIo, io_);
    writer.add(SectionKind::kChains, chains_);
    writer.add(SectionKind::kLinks, links_);
    writer.add(SectionKind::kSteps, steps_);
    writer.add(SectionKind::kOperands, operands_);
    writer.add(SectionKind::kParams, params_.bytes());
    writer.add(SectionKind::kStrings, strings_.bytes());
    writer.add(SectionKind::kLabels, labels_);
    writer.add(SectionKind::kKernels, ids_);
    if (options_.debug) writer.add(SectionKind::kDebug, debug_);
    if (options_.costs) writer.add(SectionKind::kCosts, row_costs());
  }

  std::vector<uint32_t> row_costs() const {
    std::vector<uint32_t> costs;
    for (const ProgramStep& step : program_.steps) {
      const uint64_t cycles = (step_cycles(program_, step) + step.rows - 1) / step.rows;
      costs.push_back(static_cast<uint32_t>(std::min<uint64_t>(cycles, 0xffffffffu)));
    }
    return costs;
  }

  ImageHeader header() const {
    ImageHeader header = {};
    header.magic = kMagic;
    header.version_major = kVersionMajor;
    header.version_minor = kVersionMinor;
    header.isa = static_cast<uint16_t>(program_.isa);
    header.kernel_table_id = kernel_table_id(program_.isa, ids_);
    header.stack_bytes = stack_bound(program_);
    header.max_chain_steps = 1;
    for (const Chain& chain : program_.chains)
      header.max_chain_steps = std::max(header.max_chain_steps, static_cast<uint32_t>(chain.step_count));
    return header;
  }

  const Program& program_;
  const EmitOptions& options_;
  const std::vector<uint16_t> ids_;
  std::map<size_t, size_t> constants_;  ///< image offset of each constant buffer
  std::vector<uint32_t> sources_;       ///< image offset of what each region is copied from
  StringTable strings_;
  ParamsTable params_;
  std::vector<ImageRegion> regions_;
  std::vector<ImageEntry> entries_;
  std::vector<rush_io> io_;
  std::vector<ImageChain> chains_;
  std::vector<ImageLink> links_;
  std::vector<ImageStep> steps_;
  std::vector<uint32_t> operands_;
  std::vector<uint32_t> labels_;
  std::vector<ImageDebug> debug_;
};

}  // namespace

std::vector<uint16_t> kernel_ids(const Program& program, const EmitOptions& options) {
  if (options.full_kernel_table) {
    std::vector<uint16_t> all;
    for (const KernelFamily& family : all_kernel_families()) all.push_back(family.id);
    return all;
  }
  std::set<uint16_t> used;
  for (const ProgramStep& step : program.steps) used.insert(step.family->id);
  return {used.begin(), used.end()};
}

uint32_t kernel_table_id(Isa isa, std::span<const uint16_t> ids) {
  return crc32(ids.data(), ids.size_bytes(), crc32(&isa, sizeof isa));
}

uint32_t stack_bound(const Program& program) {
  uint32_t bound = kOpenStack;
  for (const ProgramStep& step : program.steps) bound = std::max(bound, kRunStack + step.family->host->stack_bytes);
  return bound;
}

std::vector<uint8_t> emit_image(const Program& program, const EmitOptions& options) {
  std::vector<uint8_t> image = ImageEmitter(program, options).emit();
  try {
    ImageReader(image, "the image");
  } catch (const UserError& error) {
    throw InternalError(error.what());
  }
  return image;
}

}  // namespace rush
