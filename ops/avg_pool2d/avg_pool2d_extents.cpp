// SPDX-License-Identifier: Apache-2.0
#include "avg_pool2d.h"

namespace rush {
namespace {

/// Whether no window counts less than span.least. counted() is a minimum of concave functions of i, so its least value
/// is at one of the ends. It is never more than the kernel, so a larger span.least fails as well.
bool span_holds(const PoolAxis& axis, const CountedSpan& span) {
  return counted(axis, span, 0) >= span.least && counted(axis, span, axis.out - 1) >= span.least;
}

struct ElementBytes {
  uint32_t map;
  uint32_t table;
};

bool extents_of(const PoolMap& map, const PoolCounts& counts, ElementBytes bytes, Extents* extents) {
  if (!pool_extents(map, bytes.map, &extents->bytes[0], &extents->bytes[2])) return false;
  if (!span_holds(map.rows, counts.rows) || !span_holds(map.columns, counts.columns)) return false;
  const uint32_t classes = count_classes(map, counts);
  extents->bytes[1] = classes * bytes.table;
  extents->rows = map.rows.out;
  return classes <= 0x10000;
}

bool avg_pool2d_s8_extents(const void* params, Extents* extents) {
  const AvgPool2dParams& p = *static_cast<const AvgPool2dParams*>(params);
  return extents_of(p.map, p.counts, {1, sizeof(AverageScale)}, extents);
}

bool avg_pool2d_f32_extents(const void* params, Extents* extents) {
  const AvgPool2dF32Params& p = *static_cast<const AvgPool2dF32Params*>(params);
  if (((p.map.in.row_bytes | p.map.out.row_bytes) & 3u) != 0) return false;
  return extents_of(p.map, p.counts, {4, sizeof(float)}, extents);
}

}  // namespace

const KernelContract avg_pool2d_s8_contract = {avg_pool2d_s8_extents, sizeof(AvgPool2dParams), 3, 0x4, 0x2};
const KernelContract avg_pool2d_f32_contract = {avg_pool2d_f32_extents, sizeof(AvgPool2dF32Params), 3, 0x4, 0x7};

}  // namespace rush
