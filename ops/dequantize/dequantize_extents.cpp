// SPDX-License-Identifier: Apache-2.0
#include "dequantize.h"

namespace rush {
namespace {

bool dequantize_s8_f32_extents(const void* params, Extents* extents) {
  const DequantizeParams& p = *static_cast<const DequantizeParams*>(params);
  if (!rows_hold(p.in, p.rows) || !rows_hold(p.out, p.rows) || (p.out.row_bytes & 3u) != 0) return false;
  if (p.row_elements > p.in.row_bytes || p.row_elements > p.out.row_bytes / 4) return false;
  extents->bytes[0] = rows_bytes(p.in);
  extents->bytes[1] = rows_bytes(p.out);
  extents->rows = p.rows;
  return true;
}

}  // namespace

const KernelContract dequantize_s8_f32_contract = {dequantize_s8_f32_extents, sizeof(DequantizeParams), 2, 0x2, 0x2};

}  // namespace rush
