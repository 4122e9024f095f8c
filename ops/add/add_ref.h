// SPDX-License-Identifier: Apache-2.0
//
// What the reference and lowering of add share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "ops/add/add.h"
#include "ops/op_def.h"

namespace rush {

/// The scales of a quantized a + alpha * b: multipliers below 2^22 and the largest shift at which no pair of codes
/// overflows. Null where an input's scale is 2^21 times the output's or more.
std::optional<AddScale> add_scale(const Quant& a, const Quant& b, double alpha, const Quant& out);

/// Why there is none.
inline constexpr std::string_view kAddScaleRefusal =
    "an addition whose input scale is 2^21 times the output scale or more has no kernel";

std::vector<HostTensor> evaluate_add(const NodeTypes& types, const Tensors& inputs);

}  // namespace rush
