// SPDX-License-Identifier: Apache-2.0
#include "depthwise_words.h"

namespace rush {
namespace {

bool depthwise_words_s8_extents(const void* params, Extents* extents) {
  return fits_words(*static_cast<const DepthwiseConv2dParams*>(params)) && depthwise_conv2d_s8_extents(params, extents);
}

}  // namespace

const KernelContract depthwise_words_s8_contract = {depthwise_words_s8_extents, sizeof(DepthwiseConv2dParams), 4, 0x02,
                                                    0x0d};

}  // namespace rush
