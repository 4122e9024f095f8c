// SPDX-License-Identifier: Apache-2.0
#include "mean_rows.h"

namespace rush {
namespace {

bool mean_rows_s8_extents(const void* params, Extents* extents) {
  const MeanRowsParams& p = *static_cast<const MeanRowsParams*>(params);
  if (p.columns == 0 || p.columns > kMeanRowsMostColumns || p.channels == 0) return false;
  extents->bytes[1] = p.channels;
  extents->bytes[2] = 4 * mean_rows_sums(p.channels);
  extents->rows = p.rows;
  return map_holds(p.in, p.rows, static_cast<uint32_t>(p.columns) * p.channels, &extents->bytes[0]);
}

}  // namespace

const KernelContract mean_rows_s8_contract = {mean_rows_s8_extents, sizeof(MeanRowsParams), 3, 0x6, 0x4};

}  // namespace rush
