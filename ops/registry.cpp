// SPDX-License-Identifier: Apache-2.0
//
// ops.def as tables, and packing by a family's index function.
#include <algorithm>
#include <array>

#include "ops/op_def.h"

namespace rush {

namespace {

const auto kOps = std::to_array<const OpDef*>({
#define RUSH_OP(name) &name##_op,
#include "ops/ops.def"
});

const auto kFamilies = std::to_array<KernelFamily>({
#define RUSH_KERNEL(id, family, op, scalar, dsp, mve) {id, #family, #op, {#scalar, #dsp, #mve}, &family##_host},
#include "ops/ops.def"
});

}  // namespace

std::span<const OpDef* const> all_ops() { return kOps; }

const OpDef* find_op(std::string_view name) {
  const auto it = std::ranges::find_if(kOps, [&](const OpDef* op) { return op->name == name; });
  return it == kOps.end() ? nullptr : *it;
}

std::span<const KernelFamily> all_kernel_families() { return kFamilies; }

const KernelFamily* find_kernel_family(std::string_view name) {
  const auto it = std::ranges::find(kFamilies, name, &KernelFamily::name);
  return it == kFamilies.end() ? nullptr : &*it;
}

const KernelFamily* find_kernel_family(uint16_t id) {
  const auto it = std::ranges::find(kFamilies, id, &KernelFamily::id);
  return it == kFamilies.end() ? nullptr : &*it;
}

std::string_view isa_name(Isa isa) {
  constexpr std::array<std::string_view, 3> kNames = {"scalar", "dsp", "mve"};
  return kNames.at(static_cast<size_t>(isa));
}

namespace {

void invert(const Packing& packing, Isa isa, const void* params, std::vector<uint8_t>& packed) {
  if (packing.inverted == nullptr) return;
  for (size_t i = 0; i < packed.size(); ++i) packed[i] ^= packing.inverted(isa, params, i);
}

}  // namespace

std::vector<uint8_t> pack(const Packing& packing, Isa isa, const void* params, std::span<const uint8_t> canonical) {
  const size_t width = packing.element_bytes;
  std::vector<uint8_t> packed(packing.packed_count(isa, params) * width, 0);
  for (size_t i = 0; i < packed.size() / width; ++i) {
    const int64_t from = packing.index(isa, params, i);
    if (from >= 0)
      std::ranges::copy(canonical.subspan(static_cast<size_t>(from) * width, width),
                        packed.begin() + static_cast<ptrdiff_t>(i * width));
  }
  invert(packing, isa, params, packed);
  return packed;
}

std::vector<uint8_t> unpack(const Packing& packing, Isa isa, const void* params, std::span<const uint8_t> packed) {
  const size_t width = packing.element_bytes;
  std::vector<uint8_t> plain(packed.begin(), packed.end());
  invert(packing, isa, params, plain);
  std::vector<uint8_t> canonical(packing.canonical_count(params) * width, 0);
  for (size_t i = 0; i < packed.size() / width; ++i) {
    const int64_t to = packing.index(isa, params, i);
    if (to >= 0)
      std::copy_n(plain.begin() + static_cast<ptrdiff_t>(i * width), width,
                  canonical.begin() + to * static_cast<ptrdiff_t>(width));
  }
  return canonical;
}

}  // namespace rush
