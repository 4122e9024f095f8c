// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/line_maps.h"

#include "ops/dequantize/dequantize_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantize/quantize_op.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

// quantize, dequantize, and the same again before it.
constexpr int kDeepest = 4;

Shape map_shape(const Shape& line) { return {line[0], line[1], 1, line[2]}; }

/// The same for a line whose channels already lie innermost: [N,C,L] as [N,1,L,C].
Shape channels_last_shape(const Shape& line) { return {line[0], 1, line[2], line[1]}; }

bool is_quantizer(const Node& node) { return node.is<Quantize>() || node.is<Dequantize>(); }

bool swaps_channels_and_length(const Node& node) {
  const Permute* permute = node.as<Permute>();
  return permute && permute->axes == std::vector<int64_t>{0, 2, 1};
}

/// Of a per-channel weight: its axis moves with the new one in front of it.
std::optional<Quant> map_quant(std::optional<Quant> quant) {
  if (quant && quant->axis == 2) quant->axis = 3;
  return quant;
}

}  // namespace

TensorId LineMaps::to_map(TensorId line, const Origin& origin) { return make_map(line, origin, 0); }

TensorId LineMaps::to_line(TensorId map) {
  const Shape& shape = writer_.shape(map);
  const TensorId line =
      writer_.append({writer_.graph()[map].name + "_line", Reshape{{shape[0], shape[1], shape[3]}}, {map}, {}});
  maps_.emplace(line, map);
  return line;
}

TensorId LineMaps::make_map(TensorId line, const Origin& origin, int depth) {
  if (const auto known = maps_.find(line); known != maps_.end()) return known->second;
  const Node* made_by = writer_.producer(line);
  const Node node = made_by ? *made_by : Node{};
  TensorId map;
  if (is_quantizer(node) && depth < kDeepest)
    map = remade(node, make_map(node.inputs[0], origin, depth + 1), line);
  else if (swaps_channels_and_length(node))
    map = writer_.append({node.name,
                          Permute{{0, 3, 1, 2}},
                          {reshaped_early(node.inputs[0], channels_last_shape(writer_.shape(line)), origin, depth)},
                          node.origin});
  else
    map = reshaped(line, map_shape(writer_.shape(line)), origin);
  maps_.emplace(line, map);
  return map;
}

/// A reshape that stands before the quantize and dequantize that made the tensor.
TensorId LineMaps::reshaped_early(TensorId id, const Shape& shape, const Origin& origin, int depth) {
  const Node* made_by = writer_.producer(id);
  if (!made_by || !is_quantizer(*made_by) || depth >= kDeepest) return reshaped(id, shape, origin);
  const Node node = *made_by;
  const auto& quant = writer_.graph().type(node.is<Quantize>() ? id : node.inputs[0]).quant;
  if (!quant || !quant->per_tensor()) return reshaped(id, shape, origin);
  return remade(node, reshaped_early(node.inputs[0], shape, origin, depth + 1), id);
}

/// The same operator on another form of its input.
TensorId LineMaps::remade(const Node& node, TensorId input, TensorId original) {
  const TensorType type = writer_.graph().type(original);
  const TensorId id = writer_.append({.name = node.name,
                                      .op = node.op,
                                      .inputs = {input},
                                      .origin = node.origin,
                                      .dtype = type.dtype,
                                      .quant = map_quant(type.quant)});
  writer_.swap_names(id, original);
  return id;
}

TensorId LineMaps::reshaped(TensorId id, const Shape& shape, const Origin& origin) {
  TensorId& known = reshapes_[{id, shape}];
  if (known.valid()) return known;
  const Tensor tensor = writer_.graph()[id];
  if (!tensor.is_constant()) return known = writer_.append({tensor.name + "_map", Reshape{shape}, {id}, origin});
  known = writer_.add_constant(tensor.name, std::make_shared<HostTensor>(tensor.data->reshaped(shape)),
                               map_quant(tensor.type.quant));
  writer_.swap_names(known, id);
  return known;
}

}  // namespace rush
