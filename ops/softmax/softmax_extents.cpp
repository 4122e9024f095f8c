// SPDX-License-Identifier: Apache-2.0
#include "softmax.h"

namespace rush {
namespace {

bool walk_holds(const SoftmaxWalk& w, uint32_t element_bytes) {
  if (w.outer == 0 || w.count == 0 || w.inner == 0) return false;
  if (!rows_hold(w.in, w.rows) || !rows_hold(w.out, w.rows)) return false;
  const uint32_t vectors = saturating_multiply(w.outer, w.inner);
  const uint32_t row_bytes = saturating_multiply(saturating_multiply(vectors, w.count), element_bytes);
  return row_bytes <= w.in.row_bytes && row_bytes <= w.out.row_bytes;
}

bool softmax_s8_extents(const void* params, Extents* extents) {
  const SoftmaxParams& p = *static_cast<const SoftmaxParams*>(params);
  if (p.shift < 1 || p.shift > 31 || static_cast<uint32_t>(p.zero_point) + 128u > 255u) return false;
  if (!walk_holds(p.walk, 1)) return false;
  extents->bytes[0] = rows_bytes(p.walk.in);
  extents->bytes[1] = kSoftmaxTableEntries * sizeof(int32_t);
  extents->bytes[2] = rows_bytes(p.walk.out);
  extents->rows = p.walk.rows;
  return true;
}

bool softmax_f32_extents(const void* params, Extents* extents) {
  const SoftmaxWalk& w = static_cast<const SoftmaxF32Params*>(params)->walk;
  if (((w.in.row_bytes | w.out.row_bytes) & 3u) != 0 || !walk_holds(w, 4)) return false;
  extents->bytes[0] = rows_bytes(w.in);
  extents->bytes[1] = rows_bytes(w.out);
  extents->rows = w.rows;
  return true;
}

}  // namespace

const KernelContract softmax_s8_contract = {softmax_s8_extents, sizeof(SoftmaxParams), 3, 0x4, 0x2};
const KernelContract softmax_f32_contract = {softmax_f32_extents, sizeof(SoftmaxF32Params), 2, 0x2, 0x3};

}  // namespace rush
