// SPDX-License-Identifier: Apache-2.0
#include "mean.h"

namespace rush {
namespace {

/// The last element that is read, and how often one is: no more often than there are elements.
bool nest_holds(const MeanNest& nest, uint32_t* elements) {
  uint32_t last = 0, reads = 1;
  const MeanAxis axes[4] = {nest.kept[0], nest.kept[1], nest.reduced[0], nest.reduced[1]};
  for (const MeanAxis& axis : axes) {
    if (axis.count == 0 || axis.stride == 0) return false;
    last = saturating_add(last, saturating_multiply(axis.count - 1, axis.stride));
    reads = saturating_multiply(reads, axis.count);
  }
  *elements = last + 1;
  return last < 0x10000000u && reads <= last + 1;
}

bool extents_of(const MeanNest& nest, uint32_t element_bytes, Extents* extents) {
  uint32_t elements;
  if (!nest_holds(nest, &elements)) return false;
  extents->bytes[0] = elements * element_bytes;
  extents->bytes[1] = nest.kept[0].count * nest.kept[1].count * element_bytes;
  extents->rows = 1;
  return true;
}

bool mean_s8_extents(const void* params, Extents* extents) {
  return extents_of(static_cast<const MeanParams*>(params)->nest, 1, extents);
}

bool mean_f32_extents(const void* params, Extents* extents) {
  return extents_of(static_cast<const MeanF32Params*>(params)->nest, 4, extents);
}

}  // namespace

const KernelContract mean_s8_contract = {mean_s8_extents, sizeof(MeanParams), 2, 0x2, 0x0};
const KernelContract mean_f32_contract = {mean_f32_extents, sizeof(MeanF32Params), 2, 0x2, 0x3};

}  // namespace rush
