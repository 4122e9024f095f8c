// SPDX-License-Identifier: Apache-2.0
//
// Building and looking at graphs, and equality up to the numbering of tensors.
#include "compiler/ir/graph.h"

#include <algorithm>
#include <map>

namespace rush {
namespace {

/// Pairs the tensors of two graphs while walking both in step.
class Matcher {
 public:
  Matcher(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  bool match(TensorId x, TensorId y) {
    if (x.valid() != y.valid()) return false;
    if (!x.valid()) return true;
    const auto [it, fresh] = pairs_.try_emplace(x, y);
    return fresh ? same_tensor(a_[x], b_[y]) : it->second == y;
  }

  bool match(const std::vector<TensorId>& x, const std::vector<TensorId>& y) {
    return std::ranges::equal(x, y, [this](TensorId i, TensorId j) { return match(i, j); });
  }

  bool match(const Port& x, const Port& y) {
    return x.name == y.name && x.exported_dtype == y.exported_dtype && x.exported_shape == y.exported_shape &&
           x.dim_order == y.dim_order && x.border == y.border && match(x.tensor, y.tensor);
  }

  bool match(const Node& x, const Node& y) {
    return x.name == y.name && x.op == y.op && x.origin == y.origin && match(x.inputs, y.inputs) &&
           match(x.outputs, y.outputs);
  }

  bool match(const State& x, const State& y) {
    return x.name == y.name && same_data(x.initial, y.initial) && match(x.current, y.current) && match(x.next, y.next);
  }

  template <class T>
  bool match_all(const std::vector<T>& x, const std::vector<T>& y) {
    return std::ranges::equal(x, y, [this](const T& i, const T& j) { return match(i, j); });
  }

 private:
  using Data = std::shared_ptr<const HostTensor>;
  static bool same_data(const Data& x, const Data& y) { return x == y || (x && y && *x == *y); }
  static bool same_tensor(const Tensor& x, const Tensor& y) {
    return x.name == y.name && x.type == y.type && same_data(x.data, y.data);
  }

  const Graph& a_;
  const Graph& b_;
  std::map<TensorId, TensorId> pairs_;
};

}  // namespace

TensorId Graph::add_tensor(std::string name, TensorType type) {
  tensors.push_back({.name = std::move(name), .type = std::move(type), .data = nullptr});
  return {static_cast<int32_t>(tensors.size()) - 1};
}

TensorId Graph::add_constant(std::string name, HostTensor data, std::optional<Quant> quant) {
  const TensorId id = add_tensor(std::move(name), {data.dtype(), data.shape(), std::move(quant)});
  (*this)[id].data = std::make_shared<const HostTensor>(std::move(data));
  return id;
}

TensorId Graph::add_node(std::string name, Op op, std::vector<TensorId> inputs, TensorType output, Origin origin) {
  const TensorId out = add_tensor(name, std::move(output));
  nodes.push_back({std::move(name), std::move(op), std::move(inputs), {out}, std::move(origin)});
  return out;
}

const Node* Graph::producer(TensorId id) const {
  const auto makes = [id](const Node& node) { return std::ranges::find(node.outputs, id) != node.outputs.end(); };
  const auto it = std::ranges::find_if(nodes, makes);
  return it == nodes.end() ? nullptr : &*it;
}

int Graph::uses(TensorId id) const {
  int64_t count = 0;
  for (const Node& node : nodes) count += std::ranges::count(node.inputs, id);
  count += std::ranges::count(outputs, id, &Port::tensor);
  count += std::ranges::count(states, id, &State::next);
  return static_cast<int>(count);
}

bool same(const Graph& a, const Graph& b) {
  Matcher matcher(a, b);
  return matcher.match_all(a.inputs, b.inputs) && matcher.match_all(a.states, b.states) &&
         matcher.match_all(a.nodes, b.nodes) && matcher.match_all(a.outputs, b.outputs);
}

}  // namespace rush
