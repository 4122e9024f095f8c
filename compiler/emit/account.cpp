// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit/account.h"

#include <algorithm>

#include "compiler/emit/show.h"

namespace rush {
namespace {

class Accountant {
 public:
  explicit Accountant(const ImageReader& image) : image_(image), owners_(image.bytes().size(), &unused_) {}

  ImageAccount account() {
    const size_t header = sizeof(ImageHeader) + image_.sections().size_bytes();
    claim(image_.bytes().data(), header, account_.sections["header"]);
    account_.layers.reserve(image_.steps().size());  // owners point into it
    for (size_t i = 0; i < image_.steps().size(); ++i) add_step(i);
    add_links();
    for (const ImageSection& section : image_.sections()) {
      if (section.kind != static_cast<uint16_t>(SectionKind::kConstants))
        claim(section.offset, section.bytes, account_.sections[section_name(section.kind)]);
    }
    for (uint32_t* owner : owners_) ++*owner;
    account_.sections["alignment"] = unused_;
    std::erase_if(account_.sections, [](const auto& section) { return section.second == 0; });
    return std::move(account_);
  }

 private:
  /// Gives the bytes that have no owner yet to this one.
  void claim(size_t offset, size_t bytes, uint32_t& owner) {
    for (size_t i = offset; i < offset + bytes; ++i) {
      if (owners_[i] == &unused_) owners_[i] = &owner;
    }
  }

  /// What lies in the image at `first`.
  void claim(const void* first, size_t bytes, uint32_t& owner) {
    claim(static_cast<size_t>(static_cast<const uint8_t*>(first) - image_.bytes().data()), bytes, owner);
  }

  LayerAccount& layer_of(size_t step) {
    const Origin origin = image_.origin(step);
    const auto found = std::ranges::find(account_.layers, origin.layer, &LayerAccount::layer);
    if (found != account_.layers.end()) return *found;
    return account_.layers.emplace_back(LayerAccount{.layer = origin.layer, .source = origin.source});
  }

  void add_step(size_t i) {
    const ImageStep& step = image_.steps()[i];
    LayerAccount& layer = layer_of(i);
    claim(&step, sizeof step, layer.step_bytes);
    claim(image_.operands(step).data(), image_.operands(step).size_bytes(), layer.step_bytes);
    claim(image_.params(step), image_.family(step).host->contract->params_bytes, layer.step_bytes);
    if (i < image_.debug().size()) claim(&image_.debug()[i], sizeof(ImageDebug), layer.step_bytes);
    add_constants(step, layer);
  }

  void add_constants(const ImageStep& step, LayerAccount& layer) {
    const KernelFamily& family = image_.family(step);
    Extents extents = {};
    family.host->contract->extents(image_.params(step), &extents);
    for (size_t i = 0; i < image_.operands(step).size(); ++i) {
      const uint32_t operand = image_.operands(step)[i];
      if (operand >> kOperandRegionShift != 0) continue;
      if (family.host->packing.operand == static_cast<int>(i)) claim_padding(step, operand, layer);
      claim(operand, extents.bytes[i], layer.constant_bytes);
      layer.shared_bytes += bytes_of_others(operand, extents.bytes[i], layer);
    }
  }

  void claim_padding(const ImageStep& step, size_t offset, LayerAccount& layer) {
    const Packing& packing = image_.family(step).host->packing;
    const size_t count = packing.packed_count(image_.isa(), image_.params(step));
    for (size_t i = 0; i < count; ++i) {
      if (packing.index(image_.isa(), image_.params(step), i) < 0)
        claim(offset + i * packing.element_bytes, packing.element_bytes, layer.padding_bytes);
    }
  }

  uint32_t bytes_of_others(size_t offset, size_t bytes, const LayerAccount& layer) const {
    const auto first = owners_.begin() + static_cast<ptrdiff_t>(offset);
    return static_cast<uint32_t>(std::count_if(
        first, first + static_cast<ptrdiff_t>(bytes),
        [&](const uint32_t* owner) { return owner != &layer.constant_bytes && owner != &layer.padding_bytes; }));
  }

  void add_links() {
    for (const ImageChain& chain : image_.chains()) {
      for (uint32_t i = 0; chain.step_count > 1 && i < chain.step_count; ++i)
        claim(&image_.links()[chain.first_link + i], sizeof(ImageLink), layer_of(chain.first_step + i).step_bytes);
    }
  }

  const ImageReader& image_;
  ImageAccount account_;
  uint32_t unused_ = 0;
  std::vector<uint32_t*> owners_;  ///< of each byte: the sum that it counts in
};

}  // namespace

ImageAccount account_for(const ImageReader& image) { return Accountant(image).account(); }

}  // namespace rush
