// SPDX-License-Identifier: Apache-2.0
//
// What the reference and lowering of softmax share.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/op_def.h"
#include "ops/softmax/softmax.h"

namespace rush {

/// For codes of this scale. The same on every machine.
SoftmaxTable softmax_table(double input_scale);

/// 1 / output_scale as SoftmaxParams has it; null where the scale is below 2^-27.
std::optional<SoftmaxScale> softmax_output_scale(double output_scale);

/// [outer][count][inner] of a shape.
struct SoftmaxAxis {
  int64_t outer;
  int64_t count;
  int64_t inner;
};
SoftmaxAxis softmax_axis(const Shape& shape, int64_t axis);

std::vector<HostTensor> evaluate_softmax(const NodeTypes& types, const Tensors& inputs);

}  // namespace rush
