// SPDX-License-Identifier: Apache-2.0
//
// One operator by itself, for tests against literal values: its reference and what lowering says of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/execute/execute.h"
#include "compiler/lower/lower.h"
#include "tests/support/graph_builder.h"

namespace rush {

inline Quant per_tensor(double scale, int64_t zero_point) {
  Quant quant;
  quant.scale = {scale};
  quant.zero_point = {zero_point};
  return quant;
}

struct NodeInput {
  HostTensor data;
  std::optional<Quant> quant = {};
  TensorType type() const { return {data.dtype(), data.shape(), quant}; }
};

/// Codes that a test in another language can repeat: element i is (i * step + first) mod 256 - 128.
inline HostTensor stepping_codes(Shape shape, int64_t step, int64_t first) {
  HostTensor tensor(DType::kInt8, std::move(shape));
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.as<int8_t>()[i] = static_cast<int8_t>((i * step + first) % 256 - 128);
  return tensor;
}

inline Graph one_node_graph(const Op& op, const std::vector<NodeInput>& inputs, std::optional<Quant> out) {
  GraphBuilder b(0);
  std::vector<TensorId> ids;
  for (const NodeInput& input : inputs) ids.push_back(b.input(input.type()));
  b.output(b.node(op, ids, std::move(out)));
  return b.graph();
}

/// The reference's output.
inline HostTensor evaluate_node(const Op& op, const std::vector<NodeInput>& inputs, std::optional<Quant> out = {}) {
  std::vector<HostTensor> data;
  for (const NodeInput& input : inputs) data.push_back(input.data);
  return run_graph(one_node_graph(op, inputs, std::move(out)), data).at(0);
}

inline std::vector<int> codes_of(const HostTensor& tensor) {
  return {tensor.as<int8_t>(), tensor.as<int8_t>() + tensor.size()};
}

inline std::vector<float> floats_of(const HostTensor& tensor) {
  return {tensor.as<float>(), tensor.as<float>() + tensor.size()};
}

/// The message with which lowering refuses the node, or empty if there is a kernel.
inline std::string refusal_of(const Op& op, const std::vector<NodeInput>& inputs, std::optional<Quant> out = {}) {
  try {
    (void)lower_graph(one_node_graph(op, inputs, std::move(out)), Isa::kScalar, "cortex-m0");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace rush
