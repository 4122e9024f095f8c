// SPDX-License-Identifier: Apache-2.0
#include "rescale.h"

namespace rush {
namespace {

bool rescale_s8_extents(const void* params, Extents* extents) {
  const RescaleParams& p = *static_cast<const RescaleParams*>(params);
  extents->bytes[1] = 256;
  extents->rows = p.rows;
  return map_holds(p.in, p.rows, p.row_elements, &extents->bytes[0]) &&
         map_holds(p.out, p.rows, p.row_elements, &extents->bytes[2]);
}

}  // namespace

const KernelContract rescale_s8_contract = {rescale_s8_extents, sizeof(RescaleParams), 3, 0x4, 0x0};

}  // namespace rush
