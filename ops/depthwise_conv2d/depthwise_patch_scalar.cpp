// SPDX-License-Identifier: Apache-2.0
//
// Patches are for Helium; the host and the tests run its images with the kernel that is one channel after the other.
#include "depthwise_patch.h"

namespace rush {

void depthwise_patch_s8_scalar(const void* params, void* const* operands, Band band) {
  depthwise_conv2d_s8_scalar(params, operands, band);
}

void depthwise_compact_s8_scalar(const void* params, void* const* operands, Band band) {
  depthwise_conv2d_s8_scalar(params, operands, band);
}

void depthwise_column_s8_scalar(const void* params, void* const* operands, Band band) {
  depthwise_conv2d_s8_scalar(params, operands, band);
}

}  // namespace rush
