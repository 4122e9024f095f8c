// SPDX-License-Identifier: Apache-2.0
//
// Images of any bytes, with a CRC that fits: refused, or run to their end within their own memory.
//
// The first byte chooses a good image of some kernel family, the next ones are edits of it, six bytes each; 0xff means
// that the rest is the image itself. So every input gets past the checksum, and most reach the checks behind it.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "compiler/emit/image_reader.h"
#include "compiler/host/host_program.h"
#include "tests/support/raw_instance.h"
#include "tests/support/sample_graphs.h"

namespace {

using rush::Isa;
using Image = std::vector<uint8_t>;

constexpr uint64_t kMaxBands = 1 << 16;
constexpr uint64_t kMaxRam = 1 << 20;
constexpr uint8_t kRaw = 0xff;

const std::vector<Image>& bases() {
  static const std::vector<Image> images = [] {
    std::vector<Image> all;
    for (const Isa isa : {Isa::kScalar, Isa::kMve}) {
      for (rush::SampleImage& sample : rush::sample_images(isa)) all.push_back(std::move(sample.image));
    }
    return all;
  }();
  return images;
}

struct Edit {
  uint16_t at;
  uint8_t kind;
  uint8_t bytes;
  uint16_t value;
};

uint32_t edited(uint32_t old, const Edit& edit) {
  constexpr uint32_t kExtremes[] = {0, 1, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};
  switch (edit.kind % 4) {
    case 0:
      return edit.value;
    case 1:
      return old + static_cast<uint32_t>(static_cast<int16_t>(edit.value));
    case 2:
      return old ^ (1u << (edit.value % 32));
    default:
      return kExtremes[edit.value % std::size(kExtremes)];
  }
}

void apply_edit(Image& image, const Edit& edit) {
  const size_t width = size_t{1} << (edit.bytes % 3), places = image.size() / width;
  uint8_t* const field = image.data() + edit.at % places * width;
  uint32_t value = 0;
  std::memcpy(&value, field, width);
  value = edited(value, edit);
  std::memcpy(field, &value, width);
}

Image make_image(const uint8_t* data, size_t size) {
  if (data[0] == kRaw) return {data + 1, data + size};
  Image image = bases()[data[0] % bases().size()];
  for (size_t at = 1; at + sizeof(Edit) <= size; at += sizeof(Edit)) {
    Edit edit;
    std::memcpy(&edit, data + at, sizeof edit);
    apply_edit(image, edit);
  }
  return image;
}

/// As a device does it, with the kernels and the memory of the image that was edited.
void run_raw(const Image& image, const Image& base) {
  const rush::ImageReader like(base);
  rush::RawInstance instance(like, image);
  if (instance.open_status() == RUSH_OK && !instance.run_all(kMaxBands)) std::abort();
}

/// As the host does it, with the weights packed anew and as much memory as the image asks for.
void run_on_host(const Image& image) try {
  const rush::ImageReader reader(image);
  uint64_t ram = 0;
  for (const rush::ImageRegion& region : reader.regions()) ram += region.bytes;
  if (ram > kMaxRam) return;
  rush::HostProgram program(image);
  for (size_t entry = 0; entry < reader.entries().size(); ++entry) {
    std::vector<rush::HostTensor> inputs;
    for (const rush::ImagePort& port : reader.inputs(entry)) inputs.emplace_back(port.dtype, port.memory_shape());
    program.run(entry, inputs);
  }
} catch (const rush::UserError&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Image image = make_image(data, size);
  rush::seal_image(image);
  run_raw(image, bases()[data[0] % bases().size()]);
  run_on_host(image);
  return 0;
}
