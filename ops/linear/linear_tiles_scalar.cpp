// SPDX-License-Identifier: Apache-2.0
//
// For the host only: the same layer, with its weights unpacked.
#include "linear_tiles.h"

namespace rush {

void linear_tiles_s8_scalar(const void* params, void* const* operands, Band band) {
  linear_s8_scalar(params, operands, band);
}

}  // namespace rush
