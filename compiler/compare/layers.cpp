// SPDX-License-Identifier: Apache-2.0
#include "compiler/compare/layers.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace rush {
namespace {

Shape without_ones(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

constexpr std::string_view kNhwc = ".nhwc";

double step_of(const TensorType& type) { return type.quant && type.quant->per_tensor() ? type.quant->scale[0] : 0; }

ByName<TensorType> types_by_name(const Graph& graph) {
  ByName<TensorType> types;
  for (const Tensor& tensor : graph.tensors) types[tensor.name] = tensor.type;
  return types;
}

bool is_border(const Node& node) { return node.op.name() == "quantize" || node.op.name() == "dequantize"; }

/// Layer, operator, and which of that kind in the layer.
using Place = std::tuple<std::string, std::string, int>;

/// The computing nodes of a graph, by place and back.
struct Places {
  explicit Places(const Graph& graph) {
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const Node& node : graph.nodes) {
      if (is_border(node)) continue;
      const std::string op(node.op.name());
      const Place place{node.origin.layer, op, counts[{node.origin.layer, op}]++};
      node_at[place] = &node;
      place_of[&node] = place;
    }
  }
  std::map<Place, const Node*> node_at;
  std::map<const Node*, Place> place_of;
};

/// The node whose value a chain of quantizes and dequantizes passes on.
const Node* computed_by(const Graph& graph, TensorId tensor) {
  const Node* node = graph.producer(tensor);
  while (node != nullptr && is_border(*node)) node = graph.producer(node->inputs[0]);
  return node;
}

/// Quantizing folds batch norms into the convolution before them: the float model's value is then the batch norm's.
const Node* behind_folded(const Graph& graph, const Node* node, const Places& torch) {
  for (const Node& next : graph.nodes) {
    if (next.op.name() != "batch_norm" || next.inputs[0] != node->out()) continue;
    return torch.node_at.contains({next.origin.layer, "batch_norm", 0}) ? node : &next;
  }
  return node;
}

ByName<std::string> match_float(const Graph& torch, const Graph& float_model) {
  const Places in_torch(torch), in_float(float_model);
  ByName<std::string> names;
  for (const Node& node : torch.nodes) {
    const Node* computing = computed_by(torch, node.out());
    const auto place = in_torch.place_of.find(computing);
    if (place == in_torch.place_of.end()) continue;
    const auto found = in_float.node_at.find(place->second);
    if (found == in_float.node_at.end()) continue;
    names[torch[node.out()].name] = float_model[behind_folded(float_model, found->second, in_torch)->out()].name;
  }
  return names;
}

}  // namespace

std::string torch_name(const std::string& name) {
  return name.ends_with(kNhwc) ? name.substr(0, name.size() - kNhwc.size()) : name;
}

std::optional<HostTensor> aligned(const HostTensor& value, const std::string& name, const Shape& shape) {
  if (name.ends_with(kNhwc) && value.shape().size() == 4) return permuted(value, {0, 2, 3, 1});
  if (value.shape() == shape) return value;
  if (without_ones(value.shape()) == without_ones(shape)) return value.reshaped(shape);
  return std::nullopt;
}

HostTensor as_exported(const HostTensor& value, const std::string& name) {
  return name.ends_with(kNhwc) && value.shape().size() == 4 ? permuted(value, {0, 3, 1, 2}) : value;
}

LayerMap map_layers(const Compilation& made, const std::optional<Graph>& float_model) {
  LayerMap map{.layers = {},
               .torch_types = types_by_name(made.torch),
               .quantized_types = types_by_name(made.quantized),
               .float_names = {}};
  for (const Node& node : made.quantized.nodes) {
    for (const TensorId id : node.outputs) {
      const Tensor& tensor = made.quantized[id];
      if (!map.torch_types.contains(torch_name(tensor.name))) continue;
      map.layers.push_back({.tensor = tensor.name,
                            .node = node.name,
                            .op = std::string(node.op.name()),
                            .origin = node.origin,
                            .shape = tensor.type.shape,
                            .step = step_of(tensor.type)});
    }
  }
  if (float_model) map.float_names = match_float(made.torch, *float_model);
  return map;
}

}  // namespace rush
