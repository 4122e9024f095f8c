// SPDX-License-Identifier: Apache-2.0
//
// Operators that hand elements on without computing with them: each output element is one of the inputs', or a
// constant. They commute with any monotone function of one element, so with quantize and dequantize.
#pragma once

#include "compiler/ir/graph.h"

namespace rush {

/// QuantRule::kMoved: reshape, permute, pad, concat, max_pool2d (the largest is one of them), clamp.
bool is_movement(const Node& node);

/// The node works on codes of this type, quantized per tensor, and its output dequantizes to what it gives on
/// dequantized inputs: the constants that it brings in (pad's value, clamp's bounds) are codes.
bool keeps_codes(const Node& node, const TensorType& codes);

}  // namespace rush
