// SPDX-License-Identifier: Apache-2.0
//
// What a caller can ask about an open image: entries, inputs, outputs, names.
#include <stddef.h>

#include "image_access.h"
#include "rushlight/kernel.h"

namespace rush {
namespace {

inline bool is_open(const rush_context* context) { return context != nullptr && context->image != nullptr; }

const ImageEntry* find_entry(const rush_context* context, uint32_t entry) {
  if (entry >= rush_entry_count(context)) return nullptr;
  return elements<ImageEntry>(context->image, SectionKind::kEntries) + entry;
}

uint8_t* address_of(const rush_context* context, const rush_io* io) {
  if (io == nullptr || (io->flags & RUSH_IO_LINE_FED) != 0) return nullptr;
  return context->regions[io->operand >> kOperandRegionShift] + (io->operand & kOperandOffsetMask);
}

}  // namespace
}  // namespace rush

extern "C" uint32_t rush_entry_count(const rush_context* context) {
  return rush::is_open(context) ? rush::section(context->image, rush::SectionKind::kEntries).count : 0;
}

extern "C" const char* rush_entry_name(const rush_context* context, uint32_t entry) {
  const rush::ImageEntry* const found = rush::find_entry(context, entry);
  return found == nullptr ? nullptr : rush_string(context, found->name);
}

extern "C" const rush_io* rush_input_info(const rush_context* context, uint32_t entry, uint32_t i) {
  const rush::ImageEntry* const found = rush::find_entry(context, entry);
  if (found == nullptr || i >= found->input_count) return nullptr;
  return rush::elements<rush_io>(context->image, rush::SectionKind::kIo) + found->first_input + i;
}

extern "C" const rush_io* rush_output_info(const rush_context* context, uint32_t entry, uint32_t i) {
  const rush::ImageEntry* const found = rush::find_entry(context, entry);
  if (found == nullptr || i >= found->output_count) return nullptr;
  return rush::elements<rush_io>(context->image, rush::SectionKind::kIo) + found->first_output + i;
}

extern "C" void* rush_input(const rush_context* context, uint32_t entry, uint32_t i) {
  return rush::address_of(context, rush_input_info(context, entry, i));
}

extern "C" const void* rush_output(const rush_context* context, uint32_t entry, uint32_t i) {
  return rush::address_of(context, rush_output_info(context, entry, i));
}

extern "C" uint32_t rush_step_count(const rush_context* context) {
  return rush::is_open(context) ? rush::section(context->image, rush::SectionKind::kSteps).count : 0;
}

extern "C" const char* rush_string(const rush_context* context, uint32_t offset) {
  if (!rush::is_open(context) || offset >= rush::section(context->image, rush::SectionKind::kStrings).bytes) {
    return nullptr;
  }
  return rush::elements<char>(context->image, rush::SectionKind::kStrings) + offset;
}

extern "C" const char* rush_label(const rush_context* context, uint32_t i) {
  if (!rush::is_open(context) || i >= rush::section(context->image, rush::SectionKind::kLabels).count) return nullptr;
  return rush_string(context, rush::elements<uint32_t>(context->image, rush::SectionKind::kLabels)[i]);
}
