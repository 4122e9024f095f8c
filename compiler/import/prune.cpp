// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/prune.h"

#include <algorithm>

namespace rush {
namespace {

using Marks = std::vector<bool>;

void mark(Marks& used, TensorId id) {
  if (id.valid()) used[static_cast<size_t>(id.index)] = true;
}

bool is_marked(const Marks& used, TensorId id) { return used[static_cast<size_t>(id.index)]; }

/// Tensors that ports and states hold.
Marks border_tensors(const Graph& graph) {
  Marks used(graph.tensors.size(), false);
  for (const Port& port : graph.inputs) mark(used, port.tensor);
  for (const Port& port : graph.outputs) mark(used, port.tensor);
  for (const State& state : graph.states) {
    mark(used, state.current);
    mark(used, state.next);
  }
  return used;
}

bool is_needed(const Node& node, const Marks& used) {
  return std::ranges::any_of(node.outputs, [&](TensorId id) { return is_marked(used, id); });
}

void drop_unused_nodes(Graph& graph, Marks& used) {
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!is_needed(*node, used)) continue;
    for (TensorId id : node->inputs) mark(used, id);
    for (TensorId id : node->outputs) mark(used, id);
    kept.push_back(std::move(*node));
  }
  std::ranges::reverse(kept);
  graph.nodes = std::move(kept);
}

std::vector<TensorId> drop_unused_tensors(Graph& graph, const Marks& used) {
  std::vector<TensorId> renamed(graph.tensors.size());
  std::vector<Tensor> kept;
  for (size_t i = 0; i < graph.tensors.size(); ++i) {
    if (!used[i]) continue;
    renamed[i] = {static_cast<int32_t>(kept.size())};
    kept.push_back(std::move(graph.tensors[i]));
  }
  graph.tensors = std::move(kept);
  return renamed;
}

}  // namespace

Graph prune_unused(Graph graph) {
  Marks used = border_tensors(graph);
  drop_unused_nodes(graph, used);
  const std::vector<TensorId> renamed = drop_unused_tensors(graph, used);
  auto rename = [&](TensorId& id) {
    if (id.valid()) id = renamed[static_cast<size_t>(id.index)];
  };
  for (Node& node : graph.nodes) {
    std::ranges::for_each(node.inputs, rename);
    std::ranges::for_each(node.outputs, rename);
  }
  for (Port& port : graph.inputs) rename(port.tensor);
  for (Port& port : graph.outputs) rename(port.tensor);
  for (State& state : graph.states) {
    rename(state.current);
    rename(state.next);
  }
  return graph;
}

}  // namespace rush
