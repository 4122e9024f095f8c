// SPDX-License-Identifier: Apache-2.0
#include "rescale.h"

namespace rush {
namespace {

bool rescale_s8_extents(const void* params, Extents* extents) {
  const RescaleParams& p = *static_cast<const RescaleParams*>(params);
  if (!rows_hold(p.in, p.rows) || !rows_hold(p.out, p.rows)) return false;
  if (p.in.row_bytes < p.row_elements || p.out.row_bytes < p.row_elements) return false;
  extents->bytes[0] = rows_bytes(p.in);
  extents->bytes[1] = 256;
  extents->bytes[2] = rows_bytes(p.out);
  extents->rows = p.rows;
  return true;
}

}  // namespace

const KernelContract rescale_s8_contract = {rescale_s8_extents, sizeof(RescaleParams), 3, 0x4, 0x0};

}  // namespace rush
