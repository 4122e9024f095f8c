// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/rewrite.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace rush {
namespace {

/// Far above what any finite rewriting needs, which touches a node a few times.
constexpr size_t kMaxRewritesPerNode = 100;

template <class Visit>
void for_each_use(Graph& graph, Visit visit) {
  for (Node& node : graph.nodes)
    for (TensorId& id : node.inputs) visit(id);
  for (Port& port : graph.outputs) visit(port.tensor);
  for (State& state : graph.states) visit(state.next);
}

template <class Visit>
void for_each_definition(Graph& graph, Visit visit) {
  for (Port& port : graph.inputs) visit(port.tensor);
  for (State& state : graph.states) visit(state.current);
  for (Node& node : graph.nodes)
    for (TensorId& id : node.outputs) visit(id);
}

void drop_dead_nodes(Graph& graph) {
  std::vector<bool> live(graph.tensors.size(), false);
  const auto mark = [&live](TensorId id) {
    if (id.valid()) live[static_cast<size_t>(id.index)] = true;
  };
  for (const Port& port : graph.outputs) mark(port.tensor);
  for (const State& state : graph.states) mark(state.next);
  std::vector<bool> keep(graph.nodes.size());
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    keep[i] = std::ranges::any_of(node.outputs, [&](TensorId id) { return live[static_cast<size_t>(id.index)]; });
    if (keep[i]) std::ranges::for_each(node.inputs, mark);
  }
  size_t i = 0;
  std::erase_if(graph.nodes, [&](const Node&) { return !keep[i++]; });
}

void drop_dead_tensors(Graph& graph) {
  std::vector<int32_t> moved(graph.tensors.size(), -1);
  const auto mark = [&moved](TensorId id) {
    if (id.valid()) moved[static_cast<size_t>(id.index)] = 0;
  };
  for_each_use(graph, mark);
  for_each_definition(graph, mark);
  std::vector<Tensor> kept;
  for (size_t i = 0; i < moved.size(); ++i) {
    if (moved[i] < 0) continue;
    moved[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(graph.tensors[i]));
  }
  graph.tensors = std::move(kept);
  const auto renumber = [&moved](TensorId& id) {
    if (id.valid()) id.index = moved[static_cast<size_t>(id.index)];
  };
  for_each_use(graph, renumber);
  for_each_definition(graph, renumber);
}

/// The first of equal names keeps it, the others get a number. Tensors that were there before come first.
void make_unique(std::vector<std::string*> names) {
  std::set<std::string> taken;
  for (const std::string* name : names) taken.insert(*name);
  if (taken.size() == names.size()) return;
  std::set<std::string> seen;
  for (std::string* name : names) {
    if (seen.insert(*name).second) continue;
    const std::string base = *name;
    for (int n = 1; !taken.insert(*name = fmt::format("{}.{}", base, n)).second;) ++n;
    seen.insert(*name);
  }
}

void make_names_unique(Graph& graph) {
  std::vector<std::string*> tensors, nodes;
  for (Tensor& tensor : graph.tensors) tensors.push_back(&tensor.name);
  for (Node& node : graph.nodes) nodes.push_back(&node.name);
  make_unique(std::move(tensors));
  make_unique(std::move(nodes));
}

}  // namespace

Graph remove_dead_code(Graph graph) {
  drop_dead_nodes(graph);
  drop_dead_tensors(graph);
  return graph;
}

Rewriter::Rewriter(Graph graph) : graph_(std::move(graph)) { index(); }

void Rewriter::index() {
  producer_.assign(graph_.tensors.size(), -1);
  uses_.assign(graph_.tensors.size(), 0);
  for (size_t i = 0; i < graph_.nodes.size(); ++i)
    for (TensorId id : graph_.nodes[i].outputs) producer_[static_cast<size_t>(id.index)] = static_cast<int>(i);
  for_each_use(graph_, [this](TensorId id) {
    if (id.valid()) ++uses_[static_cast<size_t>(id.index)];
  });
}

const Node* Rewriter::producer(TensorId id) const {
  if (!id.valid() || static_cast<size_t>(id.index) >= producer_.size()) return nullptr;
  const int node = producer_[static_cast<size_t>(id.index)];
  return node < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(node)];
}

int Rewriter::uses(TensorId id) const { return uses_.at(static_cast<size_t>(id.index)); }

std::vector<const Node*> Rewriter::users(TensorId id) const {
  std::vector<const Node*> users;
  for (const Node& node : graph_.nodes)
    if (std::ranges::find(node.inputs, id) != node.inputs.end()) users.push_back(&node);
  return users;
}

TensorId Rewriter::stage(std::string name, const Origin& origin, NodeDraft node) {
  const TensorId out = graph_.add_tensor(std::move(node.value), std::move(node.type));
  staged_.push_back({std::move(name), std::move(node.op), std::move(node.inputs), {out}, origin});
  return out;
}

TensorId Rewriter::replace(const Node& of, NodeDraft node) { return stage(of.name, of.origin, std::move(node)); }

TensorId Rewriter::insert(const Node& near, NodeDraft node) {
  std::string name = node.value;
  return stage(std::move(name), near.origin, std::move(node));
}

TensorId Rewriter::add_constant(const std::string& name, HostTensor data, std::optional<Quant> quant) {
  return graph_.add_constant(name, std::move(data), std::move(quant));
}

/// Puts the staged nodes where the node at `position` is, and `instead` where its output was read.
void Rewriter::put(size_t position, TensorId instead) {
  const TensorId old = graph_.nodes[position].out();
  internal_check(graph_.type(instead) == graph_.type(old),
                 "rewrite: " + graph_[old].name + " would become " + to_string(graph_.type(instead)));
  const auto maker = std::ranges::find(staged_, instead, &Node::out);
  if (maker != staged_.end()) {
    maker->outputs = {old};
  } else {
    for_each_use(graph_, [&](TensorId& id) {
      if (id == old) id = instead;
    });
  }
  const auto at = graph_.nodes.erase(graph_.nodes.begin() + static_cast<ptrdiff_t>(position));
  graph_.nodes.insert(at, std::make_move_iterator(staged_.begin()), std::make_move_iterator(staged_.end()));
}

/// Where to go on after the first rule that has something for the node at `position`, or nothing if none has.
std::optional<size_t> Rewriter::apply_first(size_t position, std::initializer_list<Rule> rules) {
  const size_t tensors = graph_.tensors.size();
  for (const Rule& rule : rules) {
    const std::optional<TensorId> instead = rule(*this, graph_.nodes[position]);
    if (instead) put(position, *instead);
    staged_.clear();
    if (!instead) {
      graph_.tensors.resize(tensors);
      continue;
    }
    const size_t nodes = graph_.nodes.size();
    graph_ = remove_dead_code(std::move(graph_));
    index();
    return position - std::min(position, nodes - graph_.nodes.size());
  }
  return std::nullopt;
}

Graph rewrite(Graph graph, std::initializer_list<Rule> rules) {
  Rewriter rewriter(remove_dead_code(std::move(graph)));
  size_t left = (rewriter.graph_.nodes.size() + 10) * kMaxRewritesPerNode;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < rewriter.graph_.nodes.size();) {
      const bool single = rewriter.graph_.nodes[i].outputs.size() == 1;
      const auto next = single ? rewriter.apply_first(i, rules) : std::nullopt;
      changed |= next.has_value();
      i = next.value_or(i + 1);
      internal_check(!next || --left > 0, "rewrite: the rules do not come to an end");
    }
  }
  make_names_unique(rewriter.graph_);
  return std::move(rewriter.graph_);
}

}  // namespace rush
