// SPDX-License-Identifier: Apache-2.0
//
// The graph: value types, typed ids, nodes in execution order. A tensor has one producer (a node, an input, a
// state) or is a constant. Passes take a Graph and return a Graph; verify() runs after each of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/diagnostic.h"
#include "compiler/ir/op.h"
#include "compiler/ir/tensor.h"

namespace rush {

struct TensorId {
  int32_t index = -1;
  bool valid() const { return index >= 0; }
  auto operator<=>(const TensorId&) const = default;
};

struct Tensor {
  std::string name;
  TensorType type;
  std::shared_ptr<const HostTensor> data;  ///< constants only

  bool is_constant() const { return data != nullptr; }
};

/// Optional inputs (a missing bias) are invalid ids.
struct Node {
  std::string name;
  Op op;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  Origin origin;

  TensorId out() const { return outputs.at(0); }
  template <class T>
  const T* as() const {
    return op.as<T>();
  }
  template <class T>
  bool is() const {
    return op.is<T>();
  }
};

/// One input or output of the model as the user exported it. The graph's tensor holds it in memory order:
/// tensor.shape[i] = exported_shape[dim_order[i]].
struct Port {
  std::string name;
  TensorId tensor;
  DType exported_dtype = DType::kFloat32;
  Shape exported_shape;
  std::vector<int> dim_order;
  /// Set where the border quantize or dequantize was taken out of the graph: the tensor holds codes.
  std::optional<Quant> border;
};

/// State that survives between runs: `next` is copied to `current` at the end of a run.
struct State {
  std::string name;
  TensorId current;
  TensorId next;
  std::shared_ptr<const HostTensor> initial;
};

struct Graph {
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::vector<State> states;

  const Tensor& operator[](TensorId id) const { return tensors.at(static_cast<size_t>(id.index)); }
  Tensor& operator[](TensorId id) { return tensors.at(static_cast<size_t>(id.index)); }
  const TensorType& type(TensorId id) const { return (*this)[id].type; }

  TensorId add_tensor(std::string name, TensorType type);
  TensorId add_constant(std::string name, HostTensor data, std::optional<Quant> quant = {});
  /// Appends a node with one output of the given type.
  TensorId add_node(std::string name, Op op, std::vector<TensorId> inputs, TensorType output, Origin origin = {});

  /// The node that produces a tensor, or null (inputs, constants, states).
  const Node* producer(TensorId id) const;
  /// How often a tensor is read: by nodes, as an output, as a state's next value.
  int uses(TensorId id) const;
};

/// Checks what every pass may rely on: ids in range, one producer, defined before use, unique names, constants
/// as large as their type, each node's types as its operator infers them. Throws InternalError naming the node.
void verify(const Graph& graph);

/// The text form. parse(print(g)) == g for graphs whose constants are printed in full.
struct PrintOptions {
  int64_t max_constant_elements = 64;  ///< larger constants are printed as a hash and cannot be parsed back
};
std::string print(const Graph& graph, const PrintOptions& options = {});
/// Throws UserError with the line number where the text is malformed.
Graph parse(std::string_view text);

/// Same nodes, attributes, types, constants and ports; ids and tensor order may differ.
bool same(const Graph& a, const Graph& b);

}  // namespace rush
