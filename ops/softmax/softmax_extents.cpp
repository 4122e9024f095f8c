// SPDX-License-Identifier: Apache-2.0
#include "softmax.h"

namespace rush {
namespace {

bool maps_hold(const SoftmaxWalk& w, uint32_t element_bytes, uint32_t* in, uint32_t* out) {
  if (w.outer == 0 || w.count == 0 || w.inner == 0) return false;
  const uint32_t vectors = saturating_multiply(w.outer, w.inner);
  const uint32_t row_bytes = saturating_multiply(saturating_multiply(vectors, w.count), element_bytes);
  return map_holds(w.in, w.rows, row_bytes, in) && map_holds(w.out, w.rows, row_bytes, out);
}

bool softmax_s8_extents(const void* params, Extents* extents) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  if (p.shift < 1 || p.shift > 31 || static_cast<uint32_t>(p.zero_point) + 128u > 255u) return false;
  extents->bytes[1] = sizeof(SoftmaxTable);
  extents->rows = p.walk.rows;
  return maps_hold(p.walk, 1, &extents->bytes[0], &extents->bytes[2]);
}

bool softmax_dense_s8_extents(const void* params, Extents* extents) {
  return static_cast<const SoftmaxParams*>(params)->walk.inner == 1 && softmax_s8_extents(params, extents);
}

bool softmax_f32_extents(const void* params, Extents* extents) {
  const SoftmaxWalk& w = static_cast<const SoftmaxF32Params*>(params)->walk;
  extents->rows = w.rows;
  return ((w.in.row_bytes | w.out.row_bytes) & 3u) == 0 && maps_hold(w, 4, &extents->bytes[0], &extents->bytes[1]);
}

}  // namespace

const KernelContract softmax_s8_contract = {softmax_s8_extents, sizeof(SoftmaxParams), 3, 0x4, 0x2};
const KernelContract softmax_dense_s8_contract = {softmax_dense_s8_extents, sizeof(SoftmaxParams), 3, 0x4, 0x2};
const KernelContract softmax_f32_contract = {softmax_f32_extents, sizeof(SoftmaxF32Params), 2, 0x2, 0x3};

}  // namespace rush
