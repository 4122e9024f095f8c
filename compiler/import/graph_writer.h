// SPDX-License-Identifier: Apache-2.0
//
// Appends nodes and constants to the graph under construction. The type of every result is what its operator
// infers from its inputs, never what a file claims.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/import/names.h"
#include "compiler/ir/graph.h"

namespace rush {

struct NewNode {
  std::string name;
  Op op;
  std::vector<TensorId> inputs;
  Origin origin;
  /// Where the operator does not determine it: the result's element type and quantization (of a quantize).
  std::optional<DType> dtype = {};
  std::optional<Quant> quant = {};
};

class GraphWriter {
 public:
  /// Throws UserError where the inputs do not fit the operator.
  TensorId append(NewNode node);
  /// A graph input, state or placeholder.
  TensorId add_tensor(std::string_view name, TensorType type);
  TensorId add_constant(std::string_view name, std::shared_ptr<const HostTensor> data, std::optional<Quant> quant = {});
  /// The same codes with their quantization stated: `id` itself, or a second constant where `id` is a constant that
  /// already has another. Nothing if a computed tensor has another.
  std::optional<TensorId> with_quant(TensorId id, const Quant& quant);

  /// The second becomes what the first was known as: it takes its place.
  void swap_names(TensorId a, TensorId b);

  const Graph& graph() const { return graph_; }
  Graph& graph() { return graph_; }
  const Shape& shape(TensorId id) const { return graph_.type(id).shape; }
  size_t rank(TensorId id) const { return shape(id).size(); }
  const Node* producer(TensorId id) const;

 private:
  Node* made_by(TensorId id);
  void settle(TensorId id, const std::vector<TensorType>& inferred, const NewNode& request);
  void state_quant(TensorId id, const Quant& quant);

  Graph graph_;
  UniqueNames node_names_, tensor_names_;
  std::vector<int> producers_;  ///< node index of each tensor, or -1
  std::unordered_map<const HostTensor*, TensorId> constants_;
};

/// A larger tensor than any microcontroller holds; keeps sizes far from overflow.
constexpr int64_t kMaxElements = int64_t{1} << 31;

/// Product of the dimensions if all are positive and it is at most kMaxElements.
std::optional<int64_t> checked_count(const Shape& shape);

}  // namespace rush
