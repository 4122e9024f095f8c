// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/graph_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ops/cast/cast_op.h"
#include "ops/concat/concat_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/identity/identity_op.h"
#include "ops/op_def.h"
#include "ops/permute/permute_op.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

/// Copies elements without looking at them.
bool moves_data(const Op& op) { return op.is<Reshape>() || op.is<Permute>() || op.is<Identity>(); }

bool takes_any_type(const Op& op) { return moves_data(op) || op.is<Concat>() || op.is<Cast>() || op.is<Dequantize>(); }

/// Between dequantize and quantize everything is float32; integer arithmetic is not expressed this way.
void check_element_types(const Graph& graph, const NewNode& node) {
  if (takes_any_type(node.op)) return;
  for (TensorId id : node.inputs) {
    if (!id.valid() || graph.type(id).dtype == DType::kFloat32) continue;
    throw UserError(Diagnostic{fmt::format("{} is not supported here: input \"{}\" is {}",
                                           dtype_name(graph.type(id).dtype), graph[id].name, to_string(graph.type(id))),
                               {},
                               {},
                               {},
                               "convert it to float32 (or dequantize it) before this operator"});
  }
}

bool same_parameters(const Quant& a, const Quant& b) {
  return a.scale == b.scale && a.zero_point == b.zero_point && a.axis == b.axis;
}

const OpDef& definition_of(const Op& op) {
  const OpDef* definition = find_op(op.name());
  internal_check(definition != nullptr, "import: operator " + std::string(op.name()) + " is not in ops.def");
  return *definition;
}

}  // namespace

std::optional<int64_t> checked_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size <= 0 || size > kMaxElements || (count *= size) > kMaxElements) return std::nullopt;
  }
  return count;
}

TensorId GraphWriter::add_tensor(std::string_view name, TensorType type) {
  graph_.tensors.push_back({tensor_names_.take(name), std::move(type), nullptr});
  producers_.push_back(-1);
  return {static_cast<int32_t>(graph_.tensors.size() - 1)};
}

TensorId GraphWriter::add_constant(std::string_view name, std::shared_ptr<const HostTensor> data,
                                   std::optional<Quant> quant) {
  const auto known = constants_.find(data.get());
  if (known != constants_.end() && (!quant || graph_.type(known->second).quant == quant)) return known->second;
  const TensorId id = add_tensor(name, {data->dtype(), data->shape(), std::move(quant)});
  constants_.emplace(data.get(), id);
  graph_[id].data = std::move(data);
  return id;
}

const Node* GraphWriter::producer(TensorId id) const {
  const int node = producers_.at(static_cast<size_t>(id.index));
  return node < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(node)];
}

Node* GraphWriter::made_by(TensorId id) {
  const int node = producers_.at(static_cast<size_t>(id.index));
  return node < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(node)];
}

void GraphWriter::swap_names(TensorId a, TensorId b) {
  std::swap(graph_[a].name, graph_[b].name);
  if (Node* from_a = made_by(a), *from_b = made_by(b); from_a && from_b) std::swap(from_a->name, from_b->name);
}

TensorId GraphWriter::append(NewNode request) {
  check_element_types(graph_, request);
  const OpDef& definition = definition_of(request.op);
  const DType dtype = request.dtype.value_or(DType::kFloat32);
  const TensorId out = add_tensor(request.name, {dtype, {}, request.quant});
  graph_.nodes.push_back({node_names_.take(request.name), request.op, request.inputs, {out}, request.origin});
  try {
    settle(out, definition.infer({graph_, graph_.nodes.back()}), request);
  } catch (const UserError&) {
    graph_.nodes.pop_back();
    graph_.tensors.pop_back();
    producers_.pop_back();
    throw;
  }
  producers_[static_cast<size_t>(out.index)] = static_cast<int>(graph_.nodes.size()) - 1;
  return out;
}

void GraphWriter::settle(TensorId id, const std::vector<TensorType>& inferred, const NewNode& request) {
  internal_check(inferred.size() == 1, "import: an operator with several outputs");
  TensorType& type = graph_[id].type;
  if (!checked_count(inferred[0].shape))
    throw UserError("the result " + to_string(inferred[0]) + " is empty or too large", "check the sizes of this layer");
  if (request.dtype && inferred[0].dtype != *request.dtype)
    throw UserError(fmt::format("{} is not supported here", dtype_name(*request.dtype)), "use int8");
  type.shape = inferred[0].shape;
  type.dtype = inferred[0].dtype;
  if (moves_data(request.op)) type.quant = graph_.type(request.inputs[0]).quant;
}

std::optional<TensorId> GraphWriter::with_quant(TensorId id, const Quant& quant) {
  const std::optional<Quant>& known = graph_.type(id).quant;
  if (known && same_parameters(*known, quant)) return id;
  if (known && graph_[id].is_constant()) return add_constant(graph_[id].name, graph_[id].data, quant);
  if (known) return std::nullopt;
  state_quant(id, quant);
  return id;
}

/// Also for the tensors that `id` was copied from.
void GraphWriter::state_quant(TensorId id, const Quant& quant) {
  graph_[id].type.quant = quant;
  const Node* from = quant.per_tensor() ? producer(id) : nullptr;
  while (from && moves_data(from->op) && !graph_.type(from->inputs[0]).quant) {
    graph_[from->inputs[0]].type.quant = quant;
    from = producer(from->inputs[0]);
  }
}

}  // namespace rush
