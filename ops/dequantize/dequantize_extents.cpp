// SPDX-License-Identifier: Apache-2.0
#include "dequantize.h"

namespace rush {
namespace {

bool dequantize_s8_f32_extents(const void* params, Extents* extents) {
  const DequantizeParams& p = *static_cast<const DequantizeParams*>(params);
  extents->rows = p.rows;
  return (p.out.row_bytes & 3u) == 0 && map_holds(p.in, p.rows, p.row_elements, &extents->bytes[0]) &&
         map_holds(p.out, p.rows, saturating_multiply(p.row_elements, 4), &extents->bytes[1]);
}

}  // namespace

const KernelContract dequantize_s8_f32_contract = {dequantize_s8_f32_extents, sizeof(DequantizeParams), 2, 0x2, 0x2};

}  // namespace rush
