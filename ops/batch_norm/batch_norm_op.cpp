// SPDX-License-Identifier: Apache-2.0
//
// Batch norm on the host, as PyTorch computes it: one factor and one offset per channel, in float32.
#include "ops/batch_norm/batch_norm_op.h"

#include <cmath>

#include "ops/node_error.h"

namespace rush {
namespace {

enum Input : size_t { kX, kWeight, kBias, kMean, kVariance };

std::vector<TensorType> infer(const NodeTypes& types) {
  const TensorType& x = types.input(kX);
  if (x.dtype != DType::kFloat32 || x.shape.size() < 2) throw damaged_node(types, "takes float32 of two axes or more");
  for (const size_t i : {kWeight, kBias, kMean, kVariance}) {
    if (i < kMean && !types.has_input(i)) continue;
    if (types.input(i) != TensorType{DType::kFloat32, {x.shape[1]}, {}})
      throw damaged_node(types, "needs one float32 parameter for each channel");
  }
  return {x};
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const auto eps = static_cast<float>(types.node.as<BatchNorm>()->eps);
  const auto parameter = [&](size_t i, int64_t channel, float missing) {
    return i < inputs.size() && inputs[i] ? inputs[i]->as<float>()[channel] : missing;
  };
  HostTensor out = *inputs[kX];
  const int64_t inner = strides_of(out.shape())[1], channels = out.shape()[1];
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t c = i / inner % channels;
    const float factor = 1.0f / std::sqrt(parameter(kVariance, c, 1) + eps) * parameter(kWeight, c, 1);
    const float offset = parameter(kBias, c, 0) - parameter(kMean, c, 0) * factor;
    out.as<float>()[i] = out.as<float>()[i] * factor + offset;
  }
  return {out};
}

}  // namespace

const OpDef batch_norm_op = {BatchNorm::kName,    [] { return Op(BatchNorm{}); }, infer, evaluate, nullptr,
                             QuantRule::kAbsorbed};

}  // namespace rush
