// SPDX-License-Identifier: Apache-2.0
//
// What a pass is made of: rules that look at one node and may give something to stand in its place. The order of
// nodes stays topological, what nothing reads any more disappears, and names mean what they meant:
//
//  - a tensor that keeps its name keeps its value, so that stages can be compared tensor by tensor;
//  - "<name>.nhwc" is the value of <name> with its axes in that order;
//  - a node that stands for another keeps that one's name and origin.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"

namespace rush {

/// A node to be. Where another tensor has the name already, the new one gets a number.
struct NodeDraft {
  std::string value;  ///< its output's name
  Op op;
  std::vector<TensorId> inputs;
  TensorType type;
};

class Rewriter;

/// What shall stand in place of the node's one output (of the same type), or nothing to keep the node.
using Rule = std::function<std::optional<TensorId>(Rewriter& rewriter, const Node& node)>;

/// The graph as a rule sees it, and new nodes, which will stand just before the node that the rule was given.
class Rewriter {
 public:
  explicit Rewriter(Graph graph);

  const Graph& graph() const { return graph_; }
  /// By value: adding a tensor moves the others.
  TensorType type(TensorId id) const { return graph_.type(id); }
  Shape shape(TensorId id) const { return graph_.type(id).shape; }
  std::string name(TensorId id) const { return graph_[id].name; }
  bool is_constant(TensorId id) const { return id.valid() && graph_[id].is_constant(); }

  /// The node that makes a tensor, or null; and null if it is not a T.
  const Node* producer(TensorId id) const;
  template <class T>
  const Node* producer(TensorId id) const {
    const Node* node = producer(id);
    return node && node->is<T>() ? node : nullptr;
  }
  /// How often a tensor is read, outputs and states included.
  int uses(TensorId id) const;
  /// The nodes that read a tensor; a node that reads it twice is there once.
  std::vector<const Node*> users(TensorId id) const;

  /// A node that stands for `of`: it takes over that one's name and origin.
  TensorId replace(const Node& of, NodeDraft node);
  /// A node beside `near`, with its origin, named as its value.
  TensorId insert(const Node& near, NodeDraft node);
  TensorId add_constant(const std::string& name, HostTensor data, std::optional<Quant> quant = {});

 private:
  friend Graph rewrite(Graph graph, std::initializer_list<Rule> rules);
  TensorId stage(std::string name, const Origin& origin, NodeDraft node);
  std::optional<size_t> apply_first(size_t position, std::initializer_list<Rule> rules);
  void put(size_t position, TensorId instead);
  void index();

  Graph graph_;
  std::vector<Node> staged_;
  std::vector<int> producer_;  ///< by tensor: index of its node, or -1
  std::vector<int> uses_;      ///< by tensor
};

/// Applies the rules to every node, again and again, until none of them changes anything.
Graph rewrite(Graph graph, std::initializer_list<Rule> rules);

/// Drops nodes that no output or state depends on, and tensors that nothing mentions.
Graph remove_dead_code(Graph graph);

}  // namespace rush
