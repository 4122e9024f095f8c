// SPDX-License-Identifier: Apache-2.0
//
// Cast on the host: numbers are truncated toward zero where the new type has no fraction.
#include "ops/cast/cast_op.h"

#include <cmath>

#include "ops/node_error.h"

namespace rush {
namespace {

bool is_float(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

std::vector<TensorType> infer(const NodeTypes& types) {
  const std::string& name = types.node.as<Cast>()->dtype;
  const auto dtype = parse_dtype(name);
  if (!dtype) throw damaged_node(types, "there is no type \"" + name + "\"");
  return {{*dtype, types.input(0).shape, {}}};
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const DType dtype = types.output().dtype;
  const bool to_integer = !is_float(dtype) && dtype != DType::kBool;
  HostTensor out(dtype, inputs[0]->shape());
  for (int64_t i = 0; i < out.size(); ++i) {
    const double value = inputs[0]->number(i);
    out.set_number(i, to_integer ? std::trunc(value) : value);
  }
  return {out};
}

}  // namespace

const OpDef cast_op = {Cast::kName, [] { return Op(Cast{}); }, infer, evaluate, nullptr};

}  // namespace rush
