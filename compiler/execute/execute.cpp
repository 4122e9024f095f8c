// SPDX-License-Identifier: Apache-2.0
#include "compiler/execute/execute.h"

#include <map>

#include "ops/op_def.h"

namespace rush {
namespace {

/// The values of one run. A value is dropped after its last reader, so that memory stays near the largest cut.
class Run {
 public:
  Run(const Graph& graph, std::vector<int> reads) : graph_(graph), reads_(std::move(reads)) {}

  void set(TensorId id, HostTensor value) {
    const TensorType& type = graph_.type(id);
    internal_check(value.dtype() == type.dtype && value.shape() == type.shape,
                   "execute: " + graph_[id].name + " should be " + to_string(type) + ", is " +
                       to_string(TensorType{value.dtype(), value.shape(), {}}));
    values_[id] = std::move(value);
  }

  const HostTensor* get(TensorId id) const {
    if (!id.valid()) return nullptr;
    return graph_[id].is_constant() ? graph_[id].data.get() : &values_.at(id);
  }

  void evaluate(const Node& node, const Observe& observe) {
    const OpDef* op = find_op(node.op.name());
    internal_check(op != nullptr && op->evaluate != nullptr,
                   "execute: no reference for " + std::string(node.op.name()));
    Tensors inputs;
    for (TensorId id : node.inputs) inputs.push_back(get(id));
    std::vector<HostTensor> outputs = op->evaluate({graph_, node}, inputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (observe) observe(node, i, outputs[i]);
      set(node.outputs.at(i), std::move(outputs[i]));
    }
    for (TensorId id : node.inputs) release(id);
  }

 private:
  void release(TensorId id) {
    if (id.valid() && --reads_[static_cast<size_t>(id.index)] == 0) values_.erase(id);
  }

  const Graph& graph_;
  std::vector<int> reads_;
  std::map<TensorId, HostTensor> values_;
};

}  // namespace

GraphExecutor::GraphExecutor(const Graph& graph) : graph_(graph), reads_(graph.tensors.size(), 0) {
  const auto count = [this](TensorId id) {
    if (id.valid()) ++reads_[static_cast<size_t>(id.index)];
  };
  for (const Node& node : graph.nodes)
    for (TensorId id : node.inputs) count(id);
  for (const Port& port : graph.outputs) count(port.tensor);
  for (const State& state : graph.states) count(state.next);
  reset();
}

void GraphExecutor::reset() {
  states_.clear();
  for (const State& state : graph_.states) {
    const TensorType& type = graph_.type(state.current);
    states_.push_back(state.initial ? *state.initial : HostTensor(type.dtype, type.shape));
  }
}

std::vector<HostTensor> GraphExecutor::run(const std::vector<HostTensor>& inputs, const Observe& observe) {
  internal_check(inputs.size() == graph_.inputs.size(), "execute: wrong number of inputs");
  Run run(graph_, reads_);
  for (size_t i = 0; i < inputs.size(); ++i) run.set(graph_.inputs[i].tensor, inputs[i]);
  for (size_t i = 0; i < states_.size(); ++i) run.set(graph_.states[i].current, states_[i]);
  for (const Node& node : graph_.nodes) run.evaluate(node, observe);
  for (size_t i = 0; i < states_.size(); ++i) states_[i] = *run.get(graph_.states[i].next);
  std::vector<HostTensor> outputs;
  for (const Port& port : graph_.outputs) outputs.push_back(*run.get(port.tensor));
  return outputs;
}

std::vector<HostTensor> run_graph(const Graph& graph, const std::vector<HostTensor>& inputs, const Observe& observe) {
  return GraphExecutor(graph).run(inputs, observe);
}

}  // namespace rush
