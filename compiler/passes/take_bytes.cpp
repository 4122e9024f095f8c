// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/take_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/passes/passes.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantization.h"
#include "ops/quantize/quantize_op.h"
#include "ops/reshape/reshape_op.h"

namespace rush {
namespace {

constexpr int64_t kWeightCode = 127;   // the weights' scales carry the factors
constexpr int64_t kDenseChannels = 4;  // up to here a diagonal matrix is faster than a map for each channel

int64_t channels_of(const Port& port) { return port.exported_shape.size() < 2 ? 1 : port.exported_shape[1]; }

void check(const Graph& graph, const Port& port, const ByteInput& bytes) {
  if (graph.type(port.tensor).dtype != DType::kFloat32)
    throw UserError(
        fmt::format("input \"{}\" is {}: bytes are for float32 inputs", port.name, to_string(graph.type(port.tensor))),
        "leave out --input-type");
  const auto fits = [&](const std::vector<double>& values) {
    return values.size() == 1 || static_cast<int64_t>(values.size()) == channels_of(port);
  };
  if (!fits(bytes.mean) || !fits(bytes.std))
    throw UserError(
        fmt::format("{} means and {} standard deviations, but input \"{}\" {} has {} channels", bytes.mean.size(),
                    bytes.std.size(), port.name, to_string(port.exported_shape), channels_of(port)),
        "give one for all channels, or one for each");
  const auto positive = [](double value) { return value > 0; };
  if (!(bytes.scale > 0) || !std::ranges::all_of(bytes.std, positive))
    throw UserError("a scale or a standard deviation is not positive", "check --input-scale and --std");
}

/// The one value, or the channel's.
double at(const std::vector<double>& values, size_t channel) { return values[values.size() == 1 ? 0 : channel]; }

/// The int8 quantization that x goes to, by way of views alone; or nothing.
std::optional<Quant> quantization_of(const Graph& graph, TensorId x) {
  while (true) {
    const auto reads = [&](const Node& node) { return std::ranges::count(node.inputs, x) != 0; };
    const auto reader = std::ranges::find_if(graph.nodes, reads);
    if (graph.uses(x) != 1 || reader == graph.nodes.end()) return std::nullopt;
    if (reader->is<Quantize>() && is_quantized_int8(graph.type(reader->out()))) return graph.type(reader->out()).quant;
    if (!reader->is<Permute>() && !reader->is<Reshape>()) return std::nullopt;
    x = reader->out();
  }
}

/// Every byte is its own code, less 128.
bool bytes_are_codes(const ByteInput& bytes, const Quant& quant) {
  for (size_t c = 0; c < std::max(bytes.mean.size(), bytes.std.size()); ++c) {
    for (int byte = 0; byte < 256; ++byte) {
      const double x = (byte * bytes.scale - at(bytes.mean, c)) / at(bytes.std, c);
      if (quantize_code(x, quant) != byte - 128) return false;
    }
  }
  return true;
}

/// The nodes between bytes and x, in order, to stand before all others.
class Normalization {
 public:
  Normalization(Graph& graph, const Port& port, Origin origin)
      : graph_(graph), port_(port), origin_(std::move(origin)) {}

  TensorId add(const std::string& what, Op op, std::vector<TensorId> inputs, Shape shape) {
    const std::string name = port_.name + "." + what;
    const TensorId out = graph_.add_tensor(name, {DType::kFloat32, std::move(shape), {}});
    nodes_.push_back({name, std::move(op), std::move(inputs), {out}, origin_});
    return out;
  }

  /// (real - mean) / std of each channel, on a map of which `real` is a view in memory order.
  TensorId normalize(TensorId real, const ByteInput& bytes) {
    const Shape memory = graph_.type(real).shape, exported = port_.exported_shape;
    const bool image = exported.size() == 4;
    const std::vector<int64_t> order(port_.dim_order.begin(), port_.dim_order.end());
    if (!image) return reshaped(scaled(reshaped(real, "map", {1, 1, 1, element_count(memory)}), bytes, 1), "x", memory);
    if (std::ranges::is_sorted(order)) return scaled(real, bytes, channels_of(port_));
    std::vector<int64_t> inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    const TensorId map = add("map", Permute{inverse}, {real}, exported);
    return add("x", Permute{order}, {scaled(map, bytes, channels_of(port_))}, memory);
  }

  /// Puts the nodes first and `normalized` in x's place.
  void finish(TensorId normalized, TensorId x) {
    for (Node& node : graph_.nodes) std::ranges::replace(node.inputs, x, normalized);
    for (Port& output : graph_.outputs)
      if (output.tensor == x) output.tensor = normalized;
    for (State& state : graph_.states)
      if (state.next == x) state.next = normalized;
    graph_.nodes.insert(graph_.nodes.begin(), nodes_.begin(), nodes_.end());
  }

 private:
  TensorId reshaped(TensorId id, const std::string& what, const Shape& shape) {
    return add(what, Reshape{shape}, {id}, shape);
  }

  TensorId scaled(TensorId map, const ByteInput& bytes, int64_t channels) {
    Quant quant{.axis = 0, .min = -kWeightCode, .max = kWeightCode};
    std::vector<float> bias;
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      quant.scale.push_back(1 / (at(bytes.std, c) * kWeightCode));
      quant.zero_point.push_back(0);
      bias.push_back(static_cast<float>(-at(bytes.mean, c) / at(bytes.std, c)));
    }
    const bool dense = channels <= kDenseChannels;
    const int64_t row = dense ? channels : 1;
    const Shape shape = {channels, row, 1, 1};
    std::vector<int8_t> codes(static_cast<size_t>(channels * row), 0);
    for (int64_t c = 0; c < channels; ++c) codes[static_cast<size_t>(c * row + (dense ? c : 0))] = kWeightCode;
    const TensorId weight =
        graph_.add_constant(port_.name + ".factors", make_tensor(DType::kInt8, shape, codes), std::move(quant));
    const TensorId offsets =
        graph_.add_constant(port_.name + ".offsets", make_tensor(DType::kFloat32, {channels}, bias));
    const TensorId factors = add("factor", Dequantize{}, {weight}, shape);
    return add("normalized", Conv2d{.groups = dense ? 1 : channels}, {map, factors, offsets}, graph_.type(map).shape);
  }

  Graph& graph_;
  const Port& port_;
  Origin origin_;
  std::vector<Node> nodes_;
};

}  // namespace

Graph take_bytes(Graph graph, const ByteInput& bytes) {
  if (graph.inputs.empty()) throw UserError("the model has no input", "leave out --input-type");
  Port& port = graph.inputs[0];
  check(graph, port, bytes);
  const TensorId x = port.tensor;
  const Shape shape = graph.type(x).shape;
  const std::optional<Quant> quant = quantization_of(graph, x);
  const bool same = quant && bytes_are_codes(bytes, *quant);
  Quant codes{.scale = {bytes.scale}, .zero_point = {0}, .min = 0, .max = 255};
  if (same) codes = {.scale = quant->scale, .zero_point = {quant->zero_point[0] + 128}, .min = 0, .max = 255};
  port.tensor = graph.add_tensor(port.name + ".bytes", {DType::kUInt8, shape, std::move(codes)});
  port.exported_dtype = DType::kUInt8;
  const auto first = std::ranges::find_if(graph.nodes, [&](const Node& n) { return std::ranges::count(n.inputs, x); });
  Normalization nodes(graph, port, first == graph.nodes.end() ? Origin{} : first->origin);
  TensorId value = nodes.add("real", Dequantize{}, {port.tensor}, shape);
  if (!same) value = nodes.normalize(value, bytes);
  nodes.finish(value, x);
  return remove_dead_code(std::move(graph));
}

}  // namespace rush
