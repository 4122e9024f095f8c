// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/borders.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "compiler/import/aten_map.h"
#include "ops/identity/identity_op.h"
#include "ops/permute/permute_op.h"

namespace rush {
namespace {

using pt2::ArgumentKind;
using pt2::Extent;
using pt2::InputSpec;
using pt2::OutputSpec;
using pt2::TensorMeta;

[[noreturn]] void fail(const char* what, const std::string& name, std::string text, std::string fix) {
  throw UserError(Diagnostic{std::move(text), what, {layer_name(name), ""}, {}, std::move(fix)});
}

/// Runs `step`, collecting what it reports. False if it failed.
template <class F>
bool collect(Translation& t, F step) {
  try {
    step();
    return true;
  } catch (const UserError& error) {
    t.errors.insert(t.errors.end(), error.diagnostics().begin(), error.diagnostics().end());
    return false;
  }
}

// --- memory order ---

bool is_dense_in(const std::vector<int>& order, const Shape& sizes, const Shape& strides) {
  int64_t expected = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    if (sizes[axis] != 1 && strides[axis] != expected) return false;
    expected *= sizes[axis];
  }
  return true;
}

std::vector<int> row_major(size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int64_t> as_axes(const std::vector<int>& order) { return {order.begin(), order.end()}; }

/// The permutation that undoes `order`.
std::vector<int64_t> inverse(const std::vector<int>& order) {
  std::vector<int64_t> axes(order.size());
  for (size_t i = 0; i < order.size(); ++i) axes[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return axes;
}

bool is_row_major(const std::vector<int>& order) { return std::ranges::is_sorted(order); }

Shape memory_shape(const Shape& shape, const std::vector<int>& order) {
  Shape out;
  for (int axis : order) out.push_back(shape[static_cast<size_t>(axis)]);
  return out;
}

/// The recorded strides; those of a row-major tensor where they depend on a symbol in a way we do not follow.
Shape strides_of_meta(const Translation& t, const TensorMeta& meta, const Shape& sizes) {
  Shape strides;
  for (const Extent& extent : meta.strides) strides.push_back(t.resolve(extent).value_or(0));
  return strides.size() == sizes.size() ? strides : strides_of(sizes);
}

std::vector<int> recorded_order(const Translation& t, const std::string& name, const Shape& sizes) {
  const auto meta = t.model.values.find(name);
  if (meta == t.model.values.end()) return row_major(sizes.size());
  // Kernels for maps work on channels-last memory, so that is the order which costs nothing beside them.
  return dim_order_of(sizes, strides_of_meta(t, meta->second, sizes), t.spatial);
}

// --- inputs ---

std::string range_text(const Translation& t, const std::string& symbol) {
  const auto range = t.model.symbols.find(symbol);
  if (range == t.model.symbols.end()) return "";
  const auto& [min, max] = range->second;
  return fmt::format(" ({} .. {})", min ? std::to_string(*min) : "0", max ? std::to_string(*max) : "any");
}

void check_batch_in_range(const Translation& t, const InputSpec& spec, const std::string& symbol, int64_t batch) {
  const auto range = t.model.symbols.find(symbol);
  // Exporters state a minimum of 0 or 2 where they only mean "not specialized".
  const bool too_small = range != t.model.symbols.end() && range->second.min.value_or(0) > std::max<int64_t>(batch, 2);
  const bool too_large = range != t.model.symbols.end() && range->second.max.value_or(batch) < batch;
  if (too_small || too_large)
    fail("input", spec.graph_name,
         fmt::format("batch {} is outside the exported range{}", batch, range_text(t, symbol)),
         "give a batch in that range: --batch N");
}

struct SymbolicDim {
  size_t input, dim;
  int64_t batch;
};

void bind_dim(Translation& t, const InputSpec& spec, const Extent& extent, const SymbolicDim& at) {
  if (at.dim != 0 || !extent.plain)
    fail("input", spec.graph_name,
         fmt::format("symbolic dimension {}{} at input {} dim {}; only the batch (dim 0) may be symbolic",
                     printable(extent.symbol), range_text(t, extent.symbol), at.input, at.dim),
         "export with a fixed size there: leave it out of dynamic_shapes");
  check_batch_in_range(t, spec, extent.symbol, at.batch);
  t.symbols.emplace(extent.symbol, at.batch);
}

void bind_input(Translation& t, const InputSpec& spec, size_t index, int64_t batch) {
  const auto meta = t.model.values.find(spec.graph_name);
  if (meta == t.model.values.end()) return;
  for (size_t dim = 0; dim < meta->second.sizes.size(); ++dim) {
    const Extent& extent = meta->second.sizes[dim];
    if (extent.symbol.empty()) continue;
    if (!collect(t, [&] { bind_dim(t, spec, extent, {index, dim, batch}); })) t.scope.define(spec.graph_name, Value{});
  }
}

/// The model was exported with just this batch.
bool has_batch(const Translation& t, int64_t batch) {
  return std::ranges::any_of(t.model.inputs, [&](const InputSpec& spec) {
    const auto meta = spec.kind == InputSpec::Kind::kUser ? t.model.values.find(spec.graph_name) : t.model.values.end();
    return meta != t.model.values.end() && !meta->second.sizes.empty() && meta->second.sizes[0].value == batch;
  });
}

const TensorMeta& meta_of_input(const Translation& t, const InputSpec& spec) {
  const auto meta = t.model.values.find(spec.graph_name);
  if (meta == t.model.values.end())
    fail("input", spec.graph_name, "the file does not say what tensor it is", "export the model again");
  return meta->second;
}

TensorType type_of_input(const Translation& t, const InputSpec& spec) {
  const TensorMeta& meta = meta_of_input(t, spec);
  const std::optional<DType> dtype = pt2::dtype_of(meta.dtype);
  if (!dtype)
    fail("input", spec.graph_name, pt2::dtype_text(meta.dtype) + " is not supported", "make it a float32 input");
  const std::optional<Shape> shape = t.recorded_shape(spec.graph_name);
  if (!shape || !checked_count(*shape))
    fail("input", spec.graph_name, "its shape is not known, empty or too large", "export with fixed positive sizes");
  return {*dtype, *shape, {}};
}

void open_input(Translation& t, const InputSpec& spec) {
  const TensorType type = type_of_input(t, spec);
  const std::vector<int> order = recorded_order(t, spec.graph_name, type.shape);
  const TensorId port = t.writer.add_tensor(spec.graph_name, {type.dtype, memory_shape(type.shape, order), {}});
  t.writer.graph().inputs.push_back({t.writer.graph()[port].name, port, type.dtype, type.shape, order, std::nullopt});
  TensorId value = port;
  if (!is_row_major(order))
    value = t.writer.append({identifier(spec.graph_name) + "_permute", Permute{inverse(order)}, {port}, {}});
  t.scope.define(spec.graph_name, tensor_value(value));
}

// --- outputs ---

/// The tensor of an output; invalid if its node has been reported already.
TensorId output_tensor(Translation& t, const std::string& name, size_t index) {
  const Value* value = t.find(name);
  if (!value)
    fail("output", std::to_string(index), fmt::format("\"{}\" is not defined", printable(name)),
         "export the model again");
  if (value->kind == Value::Kind::kFailed) return {};
  if (value->kind == Value::Kind::kUnusable)
    fail("output", std::to_string(index), fmt::format("\"{}\" {}", printable(name), value->reason),
         "use the out-of-place form of the operator (inplace=False)");
  return value->tensor;
}

/// What a node makes: an output that is an input, a constant or a state gets a copy.
TensorId computed(Translation& t, TensorId id, const std::string& name) {
  return t.writer.producer(id) ? id : t.writer.append({name, Identity{"output"}, {id}, {}});
}

void close_output(Translation& t, const OutputSpec& spec, size_t index) {
  if (spec.argument.kind == ArgumentKind::kNone) return;
  if (spec.argument.kind != ArgumentKind::kTensor)
    fail("output", std::to_string(index), "is not a tensor", "return tensors only from forward()");
  const std::string& name = spec.argument.tensors[0];
  TensorId id = output_tensor(t, name, index);
  if (!id.valid()) return;
  id = computed(t, id, identifier(name) + "_output");
  const TensorType type = t.writer.graph().type(id);
  const std::vector<int> order = recorded_order(t, name, type.shape);
  if (!is_row_major(order)) id = t.writer.append({identifier(name) + "_permute", Permute{as_axes(order)}, {id}, {}});
  t.writer.graph().outputs.push_back({t.output_names.take(name), id, type.dtype, type.shape, order, std::nullopt});
}

// --- states ---

using Buffers = std::unordered_map<std::string, const InputSpec*>;

/// By the name that the module gives them, as the signature's mutations do.
Buffers buffers_of(const pt2::Model& model) {
  Buffers buffers;
  for (const InputSpec& spec : model.inputs) {
    if (spec.kind == InputSpec::Kind::kBuffer) buffers.emplace(spec.name, &spec);
  }
  return buffers;
}

const InputSpec* mutated_by(const Buffers& buffers, const OutputSpec& output) {
  const auto buffer = output.kind == OutputSpec::Kind::kBufferMutation ? buffers.find(output.name) : buffers.end();
  return buffer == buffers.end() ? nullptr : buffer->second;
}

/// The buffer that an in-place operator writes.
const InputSpec* mutated_by(const Translation& t, const pt2::NodeRecord& node) {
  if (!operator_name(node.target).ends_with('_') || node.inputs.empty()) return nullptr;
  const pt2::Argument& self = node.inputs[0].second;
  const auto weight = self.kind == ArgumentKind::kTensor ? t.inputs.find(self.tensors[0]) : t.inputs.end();
  const bool buffer = weight != t.inputs.end() && weight->second->kind == InputSpec::Kind::kBuffer;
  return buffer ? weight->second : nullptr;
}

void open_state(Translation& t, const InputSpec& spec) {
  std::shared_ptr<const HostTensor> initial = t.weights.load(spec);
  const TensorId current = t.writer.add_tensor(spec.name, {initial->dtype(), initial->shape(), {}});
  std::vector<State>& states = t.writer.graph().states;
  t.states.emplace(spec.graph_name, states.size());
  states.push_back({t.writer.graph()[current].name, current, {}, std::move(initial)});
  t.scope.define(spec.graph_name, tensor_value(current));
}

void open_state_once(Translation& t, const InputSpec* buffer) {
  if (!buffer || t.scope.find(buffer->graph_name)) return;
  if (!collect(t, [&] { open_state(t, *buffer); })) t.scope.define(buffer->graph_name, Value{});
}

/// `value` is the graph's name of what the state becomes.
void close_state(Translation& t, size_t index, const std::string& value) {
  State& state = t.writer.graph().states[index];
  const Value* next = t.find(value);
  if (!next || next->kind == Value::Kind::kFailed) return;
  const TensorType& now = t.writer.graph().type(state.current);
  const bool fits = next->kind == Value::Kind::kTensor && t.writer.shape(next->tensor) == now.shape &&
                    t.writer.graph().type(next->tensor).dtype == now.dtype;
  if (!fits)
    fail("state", state.name, "its next value is not a tensor of its type and shape", "keep the buffer's shape");
  state.next = computed(t, next->tensor, state.name + "_next");
}

}  // namespace

std::vector<int> dim_order_of(const Shape& sizes, const Shape& strides, bool prefer_channels_last) {
  const std::vector<int> channels_last{0, 2, 3, 1};
  const bool is_channels_last = sizes.size() == 4 && is_dense_in(channels_last, sizes, strides);
  std::vector<int> order = row_major(sizes.size());
  if (is_dense_in(order, sizes, strides) && !(is_channels_last && prefer_channels_last)) return order;
  if (is_channels_last) return channels_last;
  std::ranges::sort(order, [&](int a, int b) {
    const int64_t stride_a = strides[static_cast<size_t>(a)], stride_b = strides[static_cast<size_t>(b)];
    return stride_a != stride_b ? stride_a > stride_b : a < b;
  });
  return is_dense_in(order, sizes, strides) ? order : row_major(sizes.size());
}

void bind_batch(Translation& translation, int64_t batch) {
  if (batch < 1) throw UserError(fmt::format("batch {} is not positive", batch), "give a positive --batch");
  size_t index = 0;
  for (const InputSpec& spec : translation.model.inputs) {
    if (spec.kind == InputSpec::Kind::kUser) bind_input(translation, spec, index++, batch);
  }
  if (batch != 1 && translation.symbols.empty() && translation.errors.empty() && !has_batch(translation, batch))
    throw UserError(fmt::format("--batch {}: the model was exported with a fixed batch", batch),
                    "export with a dynamic batch: dynamic_shapes={\"x\": {0: torch.export.Dim(\"batch\")}}");
}

void open_inputs(Translation& translation) {
  for (const InputSpec& spec : translation.model.inputs) {
    const bool tensor = spec.kind == InputSpec::Kind::kUser && !spec.graph_name.empty();
    if (!tensor || translation.scope.find(spec.graph_name)) continue;
    if (!collect(translation, [&] { open_input(translation, spec); }))
      translation.scope.define(spec.graph_name, Value{});
  }
}

void open_states(Translation& translation) {
  const Buffers buffers = buffers_of(translation.model);
  for (const OutputSpec& output : translation.model.outputs) open_state_once(translation, mutated_by(buffers, output));
  for (const pt2::NodeRecord& node : translation.model.nodes)
    open_state_once(translation, mutated_by(translation, node));
}

void close_outputs(Translation& translation) {
  size_t index = 0;
  for (const OutputSpec& spec : translation.model.outputs) {
    if (spec.kind == OutputSpec::Kind::kUser)
      collect(translation, [&] { close_output(translation, spec, index++); });
    else if (spec.kind == OutputSpec::Kind::kOther)
      translation.errors.push_back({"an output of kind \"" + printable(spec.key) + "\" is not supported",
                                    "output",
                                    {},
                                    {},
                                    "export the model for inference: model.eval()"});
  }
  if (index == 0) throw UserError("the model has no outputs", "return a tensor from forward()");
}

void close_states(Translation& translation) {
  // Without an entry in the signature, the buffer's own name stands for the value that was written last.
  std::unordered_map<std::string, std::string> values;
  const Buffers buffers = buffers_of(translation.model);
  for (const OutputSpec& output : translation.model.outputs) {
    if (const InputSpec* buffer = mutated_by(buffers, output))
      values.emplace(buffer->graph_name, output.argument.tensors[0]);
  }
  for (const auto& [graph_name, index] : translation.states) {
    const auto value = values.find(graph_name);
    collect(translation, [&] { close_state(translation, index, value == values.end() ? graph_name : value->second); });
  }
}

}  // namespace rush
