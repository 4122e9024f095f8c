// SPDX-License-Identifier: Apache-2.0
//
// Reshape moves nothing: its output is a view of its input.
#include "ops/reshape/reshape_op.h"

#include "ops/identity/copy_step.h"
#include "ops/node_error.h"

namespace rush {
namespace {

std::vector<TensorType> infer(const NodeTypes& types) {
  TensorType type = types.input(0);
  const Shape& shape = types.node.as<Reshape>()->shape;
  if (element_count(shape) != element_count(type.shape))
    throw damaged_node(types, to_string(type.shape) + " cannot become " + to_string(shape));
  type.shape = shape;
  return {type};
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  return {inputs[0]->reshaped(types.node.as<Reshape>()->shape)};
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  view_or_copy(types, lowering);
  return std::nullopt;
}

}  // namespace

const OpDef reshape_op = {Reshape::kName, [] { return Op(Reshape{}); }, infer, evaluate, lower, QuantRule::kMoved};

}  // namespace rush
