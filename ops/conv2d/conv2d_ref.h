// SPDX-License-Identifier: Apache-2.0
//
// A convolution's sizes on the host, and its reference.
#pragma once

#include "ops/op_def.h"
#include "rushlight/arithmetic.h"

namespace rush {

/// One axis of the window's walk.
struct ConvAxis {
  int64_t in;
  int64_t out;
  int64_t kernel;
  int64_t stride;
  int64_t dilation;
  int64_t pad;  ///< before the map
  int64_t pad_after;

  /// The input position of tap i of output o, which may lie outside [0, in).
  int64_t position(int64_t o, int64_t i) const { return o * stride - pad + i * dilation; }
};

struct ConvShape {
  int64_t batch;
  ConvAxis rows;
  ConvAxis columns;
  int64_t groups;
  int64_t group_in;
  int64_t group_out;

  int64_t in_channels() const { return groups * group_in; }
  int64_t out_channels() const { return groups * group_out; }
  int64_t window() const { return rows.kernel * columns.kernel * group_in; }  ///< weights of one output
};

/// Throws a UserError where attributes and shapes do not fit together.
ConvShape conv_shape(const NodeTypes& types);

/// The multipliers of a quantized node's output channels. Throws a UserError where one is too large.
std::vector<Multiplier> required_multipliers(const NodeTypes& types);

/// The code of an exact sum: modulo 2^32, requantized, clamped.
int8_t code_of_sum(int64_t sum, const Multiplier& multiplier, const Quant& quant, const Range& range);

std::vector<HostTensor> evaluate_conv2d(const NodeTypes& types, const Tensors& inputs);

}  // namespace rush
