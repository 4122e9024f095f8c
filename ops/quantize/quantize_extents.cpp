// SPDX-License-Identifier: Apache-2.0
#include "quantize.h"

namespace rush {
namespace {

bool quantize_f32_s8_extents(const void* params, Extents* extents) {
  const QuantizeParams& p = *static_cast<const QuantizeParams*>(params);
  extents->rows = p.rows;
  return (p.in.row_bytes & 3u) == 0 &&
         map_holds(p.in, p.rows, saturating_multiply(p.row_elements, 4), &extents->bytes[0]) &&
         map_holds(p.out, p.rows, p.row_elements, &extents->bytes[1]);
}

}  // namespace

const KernelContract quantize_f32_s8_contract = {quantize_f32_s8_extents, sizeof(QuantizeParams), 2, 0x2, 0x1};

}  // namespace rush
