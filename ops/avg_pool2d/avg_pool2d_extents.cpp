// SPDX-License-Identifier: Apache-2.0
#include "avg_pool2d.h"

namespace rush {
namespace {

bool span_holds(const PoolAxis& axis, const CountedSpan& span) {
  const uint32_t room = 0x10000;
  if (static_cast<uint32_t>(span.begin) + room > room || static_cast<uint32_t>(span.end) > room) return false;
  if (span.least == 0 || span.least > axis.kernel || axis.dilation != 1) return false;
  // counted() is a minimum of concave functions of i, so its least value is at one of the ends.
  return counted(axis, span, 0) >= span.least && counted(axis, span, axis.out - 1) >= span.least;
}

bool extents_of(const PoolMap& map, const PoolCounts& counts, int32_t element_shift, Extents* extents) {
  if (!pool_holds(map, element_shift)) return false;
  if (!span_holds(map.rows, counts.rows) || !span_holds(map.columns, counts.columns)) return false;
  extents->bytes[0] = rows_bytes(map.in);
  extents->bytes[1] = count_classes(map, counts);
  extents->bytes[2] = rows_bytes(map.out);
  extents->rows = map.rows.out;
  return true;
}

bool avg_pool2d_s8_extents(const void* params, Extents* extents) {
  const AvgPool2dParams& p = *static_cast<const AvgPool2dParams*>(params);
  const bool holds = extents_of(p.map, p.counts, 0, extents);
  extents->bytes[1] = saturating_multiply(extents->bytes[1], sizeof(AverageScale));
  return holds;
}

bool avg_pool2d_f32_extents(const void* params, Extents* extents) {
  const AvgPool2dF32Params& p = *static_cast<const AvgPool2dF32Params*>(params);
  const bool holds = ((p.map.in.row_bytes | p.map.out.row_bytes) & 3u) == 0 && extents_of(p.map, p.counts, 2, extents);
  extents->bytes[1] = saturating_multiply(extents->bytes[1], sizeof(float));
  return holds;
}

}  // namespace

const KernelContract avg_pool2d_s8_contract = {avg_pool2d_s8_extents, sizeof(AvgPool2dParams), 3, 0x4, 0x2};
const KernelContract avg_pool2d_f32_contract = {avg_pool2d_f32_extents, sizeof(AvgPool2dF32Params), 3, 0x4, 0x7};

}  // namespace rush
