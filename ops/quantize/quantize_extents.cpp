// SPDX-License-Identifier: Apache-2.0
#include "quantize.h"

namespace rush {
namespace {

bool quantize_f32_s8_extents(const void* params, Extents* extents) {
  const QuantizeParams& p = *static_cast<const QuantizeParams*>(params);
  if (!rows_hold(p.in, p.rows) || !rows_hold(p.out, p.rows) || (p.in.row_bytes & 3u) != 0) return false;
  if (p.row_elements > p.in.row_bytes / 4 || p.row_elements > p.out.row_bytes) return false;
  extents->bytes[0] = rows_bytes(p.in);
  extents->bytes[1] = rows_bytes(p.out);
  extents->rows = p.rows;
  return true;
}

}  // namespace

const KernelContract quantize_f32_s8_contract = {quantize_f32_s8_extents, sizeof(QuantizeParams), 2, 0x2, 0x1};

}  // namespace rush
