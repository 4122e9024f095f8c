// SPDX-License-Identifier: Apache-2.0
//
// How conv2d lowers a convolution whose groups have one input channel.
#pragma once

#include <optional>
#include <string>

#include "ops/conv2d/conv2d_packing.h"
#include "ops/op_def.h"

namespace rush {

/// Emits the steps of a quantized Conv2d with group_in 1, or returns why there is no kernel.
std::optional<std::string> lower_depthwise_conv2d(const NodeTypes& types, Lowering& lowering,
                                                  const FoldedChannels& folded);

}  // namespace rush
