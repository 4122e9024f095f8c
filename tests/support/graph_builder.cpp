// SPDX-License-Identifier: Apache-2.0
#include "tests/support/graph_builder.h"

#include <cmath>
#include <numeric>

#include "ops/op_def.h"

namespace rush {
namespace {

Port plain_port(const Graph& graph, const std::string& name, TensorId tensor) {
  const TensorType& type = graph.type(tensor);
  std::vector<int> order(type.shape.size());
  std::iota(order.begin(), order.end(), 0);
  return {.name = name,
          .tensor = tensor,
          .exported_dtype = type.dtype,
          .exported_shape = type.shape,
          .dim_order = order,
          .border = {}};
}

double random_number(Random& random, const TensorType& type, Fill fill) {
  if (type.dtype == DType::kFloat32) return fill == Fill::kExtremes ? random.integer(-1, 1) * 4.0 : random.real(-4, 4);
  const int64_t low = type.quant ? type.quant->min : -128, high = type.quant ? type.quant->max : 127;
  if (fill == Fill::kExtremes) return static_cast<double>(random.chance(0.5) ? low : high);
  return static_cast<double>(random.integer(low, high));
}

}  // namespace

Quant random_quant(Random& random) {
  const double scale = static_cast<float>(std::exp2(random.real(-8, -2)));
  return {.scale = {scale}, .zero_point = {random.integer(-128, 127)}};
}

Quant channel_quant(std::vector<double> scales) {
  std::vector<int64_t> zero_points(scales.size(), 0);
  return {.scale = std::move(scales), .zero_point = std::move(zero_points), .axis = 0};
}

Quant random_channel_quant(Random& random, int64_t channels, int axis, double max_scale) {
  Quant quant{.scale = {}, .zero_point = {}, .axis = axis, .min = -127};
  for (int64_t i = 0; i < channels; ++i) {
    quant.scale.push_back(static_cast<float>(max_scale * std::exp2(random.real(-4, 0))));
    quant.zero_point.push_back(0);
  }
  return quant;
}

HostTensor random_tensor(Random& random, const TensorType& type, Fill fill) {
  HostTensor tensor(type.dtype, type.shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_number(i, random_number(random, type, fill));
  return tensor;
}

std::string GraphBuilder::fresh_name(const std::string& kind) { return kind + std::to_string(graph_.tensors.size()); }

TensorId GraphBuilder::input(TensorType type) {
  const std::string name = fresh_name("x");
  const TensorId id = graph_.add_tensor(name, std::move(type));
  graph_.inputs.push_back(plain_port(graph_, name, id));
  return id;
}

TensorId GraphBuilder::constant(const TensorType& type) { return constant(random_tensor(random_, type), type.quant); }

TensorId GraphBuilder::constant(HostTensor data, std::optional<Quant> quant) {
  return graph_.add_constant(fresh_name("c"), std::move(data), std::move(quant));
}

TensorId GraphBuilder::weights(const Shape& shape) {
  return constant(TensorType{DType::kInt8, shape, random_channel_quant(random_, shape.at(0))});
}

TensorId GraphBuilder::bias(TensorId x, TensorId weights, int64_t terms) {
  const double x_scale = graph_.type(x).quant->scale.at(0);
  Quant quant = *graph_.type(weights).quant;
  for (double& scale : quant.scale) scale *= x_scale;
  quant.min = INT32_MIN;
  quant.max = INT32_MAX;
  const int64_t bound = 1024 * static_cast<int64_t>(std::sqrt(static_cast<double>(terms)) + 1);
  HostTensor data(DType::kInt32, {graph_.type(weights).shape.at(0)});
  for (int64_t i = 0; i < data.size(); ++i)
    data.as<int32_t>()[i] = static_cast<int32_t>(random_.integer(-bound, bound));
  return constant(std::move(data), std::move(quant));
}

TensorId GraphBuilder::node(Op op, std::vector<TensorId> inputs, std::optional<Quant> quant) {
  const std::string name = fresh_name(std::string(op.name()));
  const OpDef* def = find_op(op.name());
  internal_check(def != nullptr, "no operator " + std::string(op.name()));
  const DType dtype = quant ? DType::kInt8 : DType::kFloat32;
  const TensorId out = graph_.add_node(name, std::move(op), std::move(inputs), {dtype, {}, quant},
                                       {.layer = name, .source = "test.py:1"});
  TensorType inferred = def->infer({graph_, graph_.nodes.back()}).at(0);
  if (quant) inferred.quant = quant;
  graph_[out].type = std::move(inferred);
  return out;
}

void GraphBuilder::output(TensorId tensor) { graph_.outputs.push_back(plain_port(graph_, fresh_name("y"), tensor)); }

}  // namespace rush
