// SPDX-License-Identifier: Apache-2.0
//
// What every pass may rely on, checked. A failure here is a fault of the importer or of the pass that ran before.
#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "compiler/ir/graph.h"
#include "ops/op_def.h"

namespace rush {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph), defined_(graph.tensors.size(), false) {}

  void run() {
    for (const Tensor& tensor : graph_.tensors) check_tensor(tensor);
    for (size_t i = 0; i < graph_.tensors.size(); ++i) defined_[i] = graph_.tensors[i].is_constant();
    for (const Port& port : graph_.inputs) define(port.tensor, "input " + port.name);
    for (const State& state : graph_.states) define(state.current, "state " + state.name);
    for (const Node& node : graph_.nodes) check_node(node);
    for (const State& state : graph_.states) check_state(state);
    for (const Port& port : graph_.inputs) check_port(port, "input " + port.name);
    for (const Port& port : graph_.outputs) check_port(port, "output " + port.name);
  }

 private:
  static void check(bool condition, const std::string& where, std::string_view what) {
    if (!condition) throw InternalError(fmt::format("verify: {}: {}", where, what));
  }

  void check_id(TensorId id, const std::string& where) const {
    check(id.valid() && static_cast<size_t>(id.index) < graph_.tensors.size(), where, "tensor id out of range");
  }

  void define(TensorId id, const std::string& where) {
    check_id(id, where);
    check(!defined_[static_cast<size_t>(id.index)], where, "tensor " + graph_[id].name + " is defined twice");
    defined_[static_cast<size_t>(id.index)] = true;
  }

  void read(TensorId id, const std::string& where) const {
    check_id(id, where);
    check(defined_[static_cast<size_t>(id.index)], where,
          "tensor " + graph_[id].name + " is used before it is defined");
  }

  void check_tensor(const Tensor& tensor) {
    const std::string where = "tensor " + tensor.name;
    check(!tensor.name.empty() && tensor_names_.insert(tensor.name).second, where, "name is empty or taken");
    check(std::ranges::all_of(tensor.type.shape, [](int64_t dim) { return dim >= 0; }), where, "negative dimension");
    if (tensor.is_constant())
      check(tensor.data->dtype() == tensor.type.dtype && tensor.data->shape() == tensor.type.shape, where,
            "the constant's data is " + to_string(TensorType{tensor.data->dtype(), tensor.data->shape(), {}}));
    if (tensor.type.quant) check_quant(tensor.type, where);
  }

  static void check_quant(const TensorType& type, const std::string& where) {
    const Quant& quant = *type.quant;
    check(quant.axis < static_cast<int>(type.shape.size()), where, "quantization axis out of range");
    const size_t count = quant.per_tensor() ? 1 : static_cast<size_t>(type.shape[static_cast<size_t>(quant.axis)]);
    check(quant.scale.size() == count && quant.zero_point.size() == count, where, "wrong number of scales");
    check(std::ranges::all_of(quant.scale, [](double s) { return s > 0; }), where, "scale is not positive");
    check(quant.min < quant.max, where, "empty range of codes");
  }

  void check_node(const Node& node) {
    const std::string where = "node " + node.name;
    check(!node.name.empty() && node_names_.insert(node.name).second, where, "name is empty or taken");
    for (TensorId id : node.inputs)
      if (id.valid()) read(id, where);
    for (TensorId id : node.outputs) define(id, where);
    check(!node.outputs.empty(), where, "no output");
    check_types(node, where);
  }

  void check_types(const Node& node, const std::string& where) const {
    const OpDef* def = find_op(node.op.name());
    check(def != nullptr, where, fmt::format("unknown operator '{}'", node.op.name()));
    const std::vector<TensorType> inferred = infer(*def, node, where);
    check(inferred.size() == node.outputs.size(), where, "wrong number of outputs");
    for (size_t i = 0; i < inferred.size(); ++i) {
      const TensorType& type = graph_.type(node.outputs[i]);
      check(inferred[i].dtype == type.dtype && inferred[i].shape == type.shape, where,
            fmt::format("output {} is {}, its operator gives {}", i, to_string(type), to_string(inferred[i])));
      // An operator that computes new codes leaves their scale to the graph.
      check(!inferred[i].quant || inferred[i].quant == type.quant, where,
            fmt::format("output {} is quantized otherwise than its operator does", i));
    }
  }

  std::vector<TensorType> infer(const OpDef& def, const Node& node, const std::string& where) const {
    try {
      return def.infer({graph_, node});
    } catch (const UserError& error) {
      throw InternalError(fmt::format("verify: {}: {}", where, error.what()));
    }
  }

  void check_state(const State& state) const {
    const std::string where = "state " + state.name;
    read(state.next, where);
    check(graph_.type(state.current) == graph_.type(state.next), where, "current and next differ in type");
    if (state.initial)
      check(state.initial->dtype() == graph_.type(state.current).dtype &&
                state.initial->shape() == graph_.type(state.current).shape,
            where, "initial value does not fit");
  }

  void check_port(const Port& port, const std::string& where) const {
    read(port.tensor, where);
    const Shape& shape = graph_.type(port.tensor).shape;
    std::vector<int> sorted = port.dim_order;
    std::ranges::sort(sorted);
    std::vector<int> axes(port.exported_shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    check(sorted == axes && shape.size() == axes.size(), where, "dim_order is not a permutation of the axes");
    for (size_t i = 0; i < shape.size(); ++i)
      check(shape[i] == port.exported_shape[static_cast<size_t>(port.dim_order[i])], where,
            "shape in memory does not match the exported shape");
    if (port.border) check(graph_.type(port.tensor).quant == port.border, where, "border quantization differs");
  }

  const Graph& graph_;
  std::vector<bool> defined_;
  std::set<std::string> tensor_names_, node_names_;
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace rush
