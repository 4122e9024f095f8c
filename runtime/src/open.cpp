// SPDX-License-Identifier: Apache-2.0
//
// rush_open: everything that a run relies on is checked here, once, so that a run checks nothing. The image may be
// any bytes at all. It is read only behind a bound that was checked before, and sums are compared as differences, so
// that none can wrap.
#include <stddef.h>
#include <string.h>

#include "image_access.h"
#include "rushlight/crc32.h"
#include "rushlight/kernel.h"

namespace rush {
namespace {

/// An image under verification. `section` and `elements` may be used once sections_hold().
struct Candidate {
  const uint8_t* image;
  const ImageHeader* header;
  const rush_kernel_table* kernels;
  const rush_memory* memories;
  uint32_t memory_count;

  uint32_t count(SectionKind kind) const { return section(image, kind).count; }
  template <class T>
  const T* all(SectionKind kind) const {
    return elements<T>(image, kind);
  }
};

inline bool is_aligned(const void* address, uintptr_t alignment) {
  return (reinterpret_cast<uintptr_t>(address) & (alignment - 1)) == 0;
}

/// [offset, offset + bytes) within [0, size).
inline bool within(uint32_t offset, uint32_t bytes, uint32_t size) { return offset <= size && bytes <= size - offset; }

rush_status header_status(const Candidate& c, uint32_t given_bytes) {
  const ImageHeader& h = *c.header;
  if (h.magic != kMagic) return RUSH_BAD_IMAGE;
  if (h.version_major != kVersionMajor) return RUSH_BAD_VERSION;
  if (h.image_bytes < sizeof h || h.image_bytes > given_bytes) return RUSH_BAD_IMAGE;
  const uint32_t covered = offsetof(ImageHeader, version_major);
  if (crc32(c.image + covered, h.image_bytes - covered) != h.crc) return RUSH_BAD_CRC;
  if (h.isa != c.kernels->isa) return RUSH_WRONG_TARGET;
  if (h.kernel_table_id != c.kernels->id) return RUSH_WRONG_KERNELS;
  return RUSH_OK;
}

const uint8_t kElementBytes[kFixedSections] = {sizeof(ImageRegion),
                                               sizeof(ImageEntry),
                                               sizeof(rush_io),
                                               sizeof(ImageChain),
                                               sizeof(ImageLink),
                                               sizeof(ImageStep),
                                               sizeof(uint32_t),
                                               1,
                                               1,
                                               sizeof(uint32_t)};

rush_status sections_status(const Candidate& c) {
  const uint32_t table_bytes = c.header->section_count * static_cast<uint32_t>(sizeof(ImageSection));
  if (c.header->section_count < kFixedSections || !within(sizeof(ImageHeader), table_bytes, c.header->image_bytes)) {
    return RUSH_BAD_IMAGE;
  }
  const ImageSection* s = &section(c.image, SectionKind::kRegions);
  for (uint32_t i = 0; i < c.header->section_count; ++i, ++s) {
    if (s->kind > kKnownSections && (s->flags & kSectionRequired) != 0) return RUSH_BAD_VERSION;
    if ((s->offset & 3u) != 0 || !within(s->offset, s->bytes, c.header->image_bytes)) return RUSH_BAD_IMAGE;
    if (i >= kFixedSections) continue;
    if (s->kind != i + 1 || s->count >> 24 != 0 || s->count * kElementBytes[i] != s->bytes) return RUSH_BAD_IMAGE;
  }
  return RUSH_OK;
}

bool strings_end(const Candidate& c) {
  const uint32_t bytes = c.count(SectionKind::kStrings);
  return bytes == 0 || c.all<uint8_t>(SectionKind::kStrings)[bytes - 1] == 0;
}

inline bool is_weights(const ImageRegion& region) { return region.kind == static_cast<uint8_t>(RegionKind::kWeights); }

rush_status regions_status(const Candidate& c) {
  const uint32_t count = c.count(SectionKind::kRegions);
  if (count >= RUSH_MAX_REGIONS) return RUSH_BAD_IMAGE;
  if (count > c.memory_count) return RUSH_REGION_TOO_SMALL;
  const ImageRegion* const regions = c.all<ImageRegion>(SectionKind::kRegions);
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_aligned(c.memories[i].base, RUSH_ALIGNMENT)) return RUSH_BAD_ALIGNMENT;
    if (c.memories[i].bytes < regions[i].bytes) return RUSH_REGION_TOO_SMALL;
    if (is_weights(regions[i]) && !within(regions[i].source, regions[i].bytes, c.header->image_bytes))
      return RUSH_BAD_IMAGE;
  }
  return RUSH_OK;
}

/// Whether an operand's bytes lie inside its region.
bool operand_holds(const Candidate& c, uint32_t operand, uint32_t bytes) {
  const uint32_t region = operand >> kOperandRegionShift;
  if (region > c.count(SectionKind::kRegions)) return false;
  const uint32_t size =
      region == 0 ? c.header->image_bytes : c.all<ImageRegion>(SectionKind::kRegions)[region - 1].bytes;
  return within(operand & kOperandOffsetMask, bytes, size);
}

bool operands_hold(const Candidate& c, const KernelContract& contract, const uint32_t* operands,
                   const Extents& extents) {
  const uint32_t written = contract.written == 0 ? 1u : contract.written;  // by the caller, if not by the kernel
  for (uint32_t i = 0; i < contract.operand_count; ++i) {
    if (!operand_holds(c, operands[i], extents.bytes[i])) return false;
    if ((written >> i & 1u) != 0 && operands[i] >> kOperandRegionShift == 0) return false;
    if ((contract.word_aligned >> i & 1u) != 0 && (operands[i] & 3u) != 0) return false;
  }
  return true;
}

bool step_holds(const Candidate& c, const ImageStep& step) {
  if (step.kernel >= c.kernels->count || step.rows == 0) return false;
  const KernelContract& contract = *c.kernels->entries[step.kernel].contract;
  if ((step.params & 3u) != 0 || !within(step.params, contract.params_bytes, c.count(SectionKind::kParams)) ||
      !within(step.first_operand, contract.operand_count, c.count(SectionKind::kOperands))) {
    return false;
  }
  Extents extents = {};
  return contract.extents(c.all<uint8_t>(SectionKind::kParams) + step.params, &extents) && extents.rows == step.rows &&
         operands_hold(c, contract, c.all<uint32_t>(SectionKind::kOperands) + step.first_operand, extents);
}

/// Producers lie in front of the step `place`: then the first step of a chain that is not done is always ready.
bool link_holds(const ImageLink& link, uint32_t place) {
  for (const uint16_t producer : link.producer) {
    if (producer != kNoProducer && producer >= place) return false;
  }
  return link.band_rows != 0;
}

/// The chains must lie one behind the other, over all steps and all links.
bool chains_hold(const Candidate& c) {
  const ImageChain* chain = c.all<ImageChain>(SectionKind::kChains);
  const ImageLink* const links = c.all<ImageLink>(SectionKind::kLinks);
  const ImageStep* const steps = c.all<ImageStep>(SectionKind::kSteps);
  uint32_t step = 0, link = 0;
  for (uint32_t left = c.count(SectionKind::kChains); left > 0; --left, ++chain) {
    const uint32_t length = chain->step_count;
    const bool linked = length > 1;
    if (chain->first_step != step || chain->first_link != link || length == 0 || length > c.header->max_chain_steps ||
        !within(step, length, c.count(SectionKind::kSteps)) ||
        (linked && !within(link, length, c.count(SectionKind::kLinks)))) {
      return false;
    }
    for (uint32_t place = 0; place < length; ++place) {
      if (!step_holds(c, steps[step++]) || (linked && !link_holds(links[link++], place))) return false;
    }
  }
  return step == c.count(SectionKind::kSteps);
}

/// An input is written by the caller, so it cannot lie in the image; only an input can be given row by row.
bool ports_hold(const Candidate& c, const ImageEntry& entry) {
  const rush_io* const all = c.all<rush_io>(SectionKind::kIo);
  for (uint32_t i = 0; i < entry.input_count; ++i) {
    if (all[entry.first_input + i].operand >> kOperandRegionShift == 0) return false;
  }
  for (uint32_t i = 0; i < entry.output_count; ++i) {
    if ((all[entry.first_output + i].flags & RUSH_IO_LINE_FED) != 0) return false;
  }
  return true;
}

bool entries_hold(const Candidate& c) {
  const ImageEntry* entry = c.all<ImageEntry>(SectionKind::kEntries);
  const uint32_t io_count = c.count(SectionKind::kIo);
  const uint32_t entry_count = c.count(SectionKind::kEntries);
  for (uint32_t left = entry_count; left > 0; --left, ++entry) {
    if (!within(entry->first_chain, entry->chain_count, c.count(SectionKind::kChains)) ||
        !within(entry->first_input, entry->input_count, io_count) ||
        !within(entry->first_output, entry->output_count, io_count) || !ports_hold(c, *entry)) {
      return false;
    }
  }
  return entry_count != 0;
}

/// Bits of the operand that are zero: int16 and float16 lie at even addresses, wider types at multiples of four.
uint32_t misalignment_mask(uint8_t dtype) {
  if (dtype == RUSH_INT16 || dtype == RUSH_FLOAT16) return 1;
  return dtype == RUSH_INT32 || dtype == RUSH_INT64 || dtype == RUSH_FLOAT32 ? 3 : 0;
}

bool io_holds(const Candidate& c) {
  const rush_io* io = c.all<rush_io>(SectionKind::kIo);
  for (uint32_t left = c.count(SectionKind::kIo); left > 0; --left, ++io) {
    // A line-fed input is a ring of its rows, which a step describes.
    const bool is_whole = (io->flags & RUSH_IO_LINE_FED) == 0;
    if (io->rank > RUSH_MAX_RANK || !operand_holds(c, io->operand, is_whole ? io->bytes : 0) ||
        (io->operand & misalignment_mask(io->dtype)) != 0) {
      return false;
    }
    for (uint32_t i = 0; i < io->rank; ++i) {
      if (io->dim_order[i] >= io->rank) return false;
    }
  }
  return true;
}

rush_status contents_status(const Candidate& c) {
  rush_status status = sections_status(c);
  if (status == RUSH_OK) status = regions_status(c);
  if (status != RUSH_OK) return status;
  if (!strings_end(c) || !entries_hold(c) || !io_holds(c)) return RUSH_BAD_IMAGE;
  return chains_hold(c) ? RUSH_OK : RUSH_BAD_STEP;
}

}  // namespace
}  // namespace rush

extern "C" rush_status rush_open(rush_context* context, size_t context_bytes, const rush_model* model,
                                 const rush_memory* memories, uint32_t memory_count) {
  using namespace rush;
  if (context == nullptr || context_bytes < sizeof *context || model == nullptr || model->image == nullptr ||
      model->kernels == nullptr || (memories == nullptr && memory_count != 0)) {
    return RUSH_BAD_ARGUMENT;
  }
  if (!is_aligned(context, alignof(rush_context)) || !is_aligned(model->image, RUSH_ALIGNMENT)) {
    return RUSH_BAD_ALIGNMENT;
  }
  context->image = nullptr;
  context->chain = context->chain_end = context->in_chain = 0;
  if (model->image_bytes < sizeof(ImageHeader)) return RUSH_BAD_IMAGE;
  const uint8_t* const image = static_cast<const uint8_t*>(model->image);
  const Candidate candidate = {image, reinterpret_cast<const ImageHeader*>(image), model->kernels, memories,
                               memory_count};
  rush_status status = header_status(candidate, model->image_bytes);
  if (status == RUSH_OK) status = contents_status(candidate);
  if (status != RUSH_OK) return status;
  if (candidate.header->max_chain_steps > (context_bytes - offsetof(rush_context, rows_done)) / sizeof(uint16_t)) {
    return RUSH_BAD_ARGUMENT;
  }
  context->kernels = model->kernels;
  context->regions[0] = const_cast<uint8_t*>(image);
  for (uint32_t i = 0; i < candidate.count(SectionKind::kRegions); ++i) {
    context->regions[i + 1] = static_cast<uint8_t*>(memories[i].base);
    const ImageRegion& region = candidate.all<ImageRegion>(SectionKind::kRegions)[i];
    if (is_weights(region)) memcpy(memories[i].base, image + region.source, region.bytes);
  }
  context->image = image;
  return RUSH_OK;
}
