// SPDX-License-Identifier: Apache-2.0
//
// The portable variants: element by element.
#include "permute.h"

namespace rush {
namespace {

template <class Element>
void permute_elements(const PermuteParams& p, void* const* operands) {
  const Plane plane = plane_of(p);
  permute_planes<Element>(p, operands, [&plane](Element* out, const Element* in) {
    for (uint32_t r = 0; r < plane.rows; ++r) {
      const Element* from = in + r * plane.row_stride;
      for (uint32_t c = 0; c < plane.columns; ++c) {
        *out++ = *from;
        from += plane.column_stride;
      }
    }
  });
}

}  // namespace

void permute_8_scalar(const void* params, void* const* operands, Band) {
  permute_elements<uint8_t>(*static_cast<const PermuteParams*>(params), operands);
}

void permute_32_scalar(const void* params, void* const* operands, Band) {
  permute_elements<uint32_t>(*static_cast<const PermuteParams*>(params), operands);
}

}  // namespace rush
