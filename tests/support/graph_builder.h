// SPDX-License-Identifier: Apache-2.0
//
// Small graphs for tests: random tensors, weights and quantizations, nodes whose output types their operators infer.
//
//   GraphBuilder b(seed);
//   const TensorId x = b.input(b.int8_type({1, 8, 8, 3}));
//   b.output(b.node(Clamp{.min = 0}, {x}, b.graph().type(x).quant));
//   check_op(b.graph(), "relu", seed);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "tests/support/random.h"

namespace rush {

/// Per tensor, int8, scale in [2^-8, 2^-2), any zero point.
Quant random_quant(Random& random);

/// Symmetric int8 codes with a scale for each index of `axis`, none above `max_scale`.
Quant random_channel_quant(Random& random, int64_t channels, int axis = 0, double max_scale = 0.02);

/// The same with given scales, and all codes of int8.
Quant channel_quant(std::vector<double> scales);

enum class Fill { kUniform, kExtremes };

/// Codes over the quant's range (kExtremes: its ends only), or float32 numbers in [-4, 4].
HostTensor random_tensor(Random& random, const TensorType& type, Fill fill = Fill::kUniform);

class GraphBuilder {
 public:
  explicit GraphBuilder(uint64_t seed) : random_(seed) {}

  Random& random() { return random_; }
  const Graph& graph() const { return graph_; }

  static TensorType float_type(Shape shape) { return {DType::kFloat32, std::move(shape), std::nullopt}; }
  /// int8 with a random quantization.
  TensorType int8_type(Shape shape) { return {DType::kInt8, std::move(shape), random_quant(random_)}; }

  TensorId input(TensorType type);
  /// A constant with random values of the type.
  TensorId constant(const TensorType& type);
  TensorId constant(HostTensor data, std::optional<Quant> quant = {});
  /// int8 weights quantized per index of axis 0.
  TensorId weights(const Shape& shape);
  /// int32 bias for int8 weights: scale = x's scale * each weight scale; sums of up to `terms` products do not dwarf
  /// it.
  TensorId bias(TensorId x, TensorId weights, int64_t terms);

  /// A node whose output type its operator infers; a quant makes the output int8.
  TensorId node(Op op, std::vector<TensorId> inputs, std::optional<Quant> quant = {});
  void output(TensorId tensor);

 private:
  std::string fresh_name(const std::string& kind);

  Random random_;
  Graph graph_;
};

}  // namespace rush
