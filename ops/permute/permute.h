// SPDX-License-Identifier: Apache-2.0
//
// Moves axes: the output is written in order, each element fetched by the input's strides.
#ifndef RUSHLIGHT_OPS_PERMUTE_H
#define RUSHLIGHT_OPS_PERMUTE_H

#include "rushlight/kernel.h"

namespace rush {

enum { kPermuteRank = 6 };

/// Operands: 0 in, 1 out; they must not overlap. Elements of 1 byte (any alignment) or 4 (aligned), whatever they
/// mean. shape is the output's, ones in front; stride is how far apart the input's elements lie along each axis.
struct PermuteParams {
  uint32_t shape[kPermuteRank];
  uint32_t stride[kPermuteRank];
};

extern const KernelContract permute_8_contract;
Kernel permute_8_scalar, permute_8_dsp, permute_8_mve;

extern const KernelContract permute_32_contract;
Kernel permute_32_scalar;

/// The innermost two axes of an output: out[r][c] = in[r * row_stride + c * column_stride].
struct Plane {
  uint32_t rows;
  uint32_t columns;
  uint32_t row_stride;
  uint32_t column_stride;
};

/// Calls plane(out, in) for every plane, in the output's order.
template <class Element, class OnPlane>
inline void permute_planes(const PermuteParams& p, void* const* operands, OnPlane plane) {
  const Element* in = static_cast<const Element*>(operands[0]);
  Element* out = static_cast<Element*>(operands[1]);
  const uint32_t plane_elements = p.shape[4] * p.shape[5];
  uint32_t index[4] = {0, 0, 0, 0};
  for (;;) {
    plane(out, in);
    out += plane_elements;
    int axis = 3;
    for (; axis >= 0; --axis) {
      in += p.stride[axis];
      if (++index[axis] < p.shape[axis]) break;
      in -= p.stride[axis] * p.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

inline Plane plane_of(const PermuteParams& p) { return {p.shape[4], p.shape[5], p.stride[4], p.stride[5]}; }

}  // namespace rush
#endif
