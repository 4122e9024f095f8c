// SPDX-License-Identifier: Apache-2.0
//
// How conv2d lowers a convolution whose groups have one input channel.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ops/conv2d/conv2d_packing.h"
#include "ops/depthwise_conv2d/depthwise_conv2d.h"
#include "ops/op_def.h"

namespace rush {

/// Emits the steps of a quantized Conv2d with group_in 1, or returns why there is no kernel.
std::optional<std::string> lower_depthwise_conv2d(const NodeTypes& types, Lowering& lowering,
                                                  const FoldedChannels& folded);

/// The family for patches that computes this, or an empty string (depthwise_patch_packing.cpp).
std::string_view patch_family(const DepthwiseConv2dParams& params);

}  // namespace rush
