// SPDX-License-Identifier: Apache-2.0
//
// For the host only: the same convolution, with its weights unpacked.
#include "conv2d_tiles.h"

namespace rush {

void conv2d_tiles_s8_scalar(const void* params, void* const* operands, Band band) {
  conv2d_s8_scalar(params, operands, band);
}

void conv2d_rows_s8_scalar(const void* params, void* const* operands, Band band) {
  conv2d_s8_scalar(params, operands, band);
}

}  // namespace rush
