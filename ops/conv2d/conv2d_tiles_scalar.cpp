// SPDX-License-Identifier: Apache-2.0
//
// For the host only: the same convolution, with its weights unpacked.
#include "conv2d_tiles.h"

namespace rush {

void conv2d_tiles_s8_scalar(const void* params, void* const* operands, Band band) {
  const Conv2dParams scalar = without_ring(*static_cast<const Conv2dParams*>(params));
  conv2d_s8_scalar(&scalar, operands, band);
}

void conv2d_rows_s8_scalar(const void* params, void* const* operands, Band band) {
  const Conv2dParams scalar = without_ring(*static_cast<const Conv2dParams*>(params));
  conv2d_s8_scalar(&scalar, operands, band);
}

}  // namespace rush
