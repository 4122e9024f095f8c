// SPDX-License-Identifier: Apache-2.0
//
// The facts, out of the reader that checks the whole image.
#include "compiler/firmware/image_facts.h"

#include <algorithm>

#include "compiler/emit/image_reader.h"

namespace rush::firmware {
namespace {

std::vector<uint32_t> bytes_of(const std::vector<ImagePort>& ports) {
  std::vector<uint32_t> bytes;
  for (const ImagePort& port : ports) bytes.push_back(port.bytes);
  return bytes;
}

}  // namespace

int ImageFacts::init_entry() const {
  const auto found = std::ranges::find(entries, "init", &EntryFacts::name);
  return found == entries.end() ? -1 : static_cast<int>(found - entries.begin());
}

ImageFacts read_image_facts(std::span<const uint8_t> image, const std::string& file) {
  const ImageReader reader(image, file);
  ImageFacts facts{.isa = reader.isa(),
                   .image_bytes = reader.header().image_bytes,
                   .stack_bytes = reader.header().stack_bytes,
                   .max_chain_steps = reader.header().max_chain_steps,
                   .line_fed = std::ranges::any_of(
                       reader.io(), [](const rush_io& io) { return (io.flags & RUSH_IO_LINE_FED) != 0; }),
                   .regions = {},
                   .entries = {},
                   .kernels = {reader.kernel_ids().begin(), reader.kernel_ids().end()}};
  for (const ImageRegion& region : reader.regions())
    facts.regions.push_back({reader.string(region.name), region.bytes, static_cast<RegionKind>(region.kind)});
  for (size_t i = 0; i < reader.entries().size(); ++i) {
    const std::string name = reader.string(reader.entries()[i].name);
    facts.entries.push_back({name, bytes_of(reader.inputs(i)), bytes_of(reader.outputs(i))});
  }
  return facts;
}

}  // namespace rush::firmware
