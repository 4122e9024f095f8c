// SPDX-License-Identifier: Apache-2.0
//
// Passes keep what a graph computes: random models, as quantizers and exporters write them, run before and after
// every pass of the list. Bit for bit, but where the pass itself says otherwise.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "compiler/execute/ports.h"
#include "compiler/passes/pass_list.h"
#include "ops/add/add_op.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/batch_norm/batch_norm_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/identity/identity_op.h"
#include "ops/linear/linear_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/mean/mean_op.h"
#include "ops/op_def.h"
#include "ops/pad/pad_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantize/quantize_op.h"
#include "ops/reshape/reshape_op.h"
#include "ops/softmax/softmax_op.h"
#include "tests/support/graph_builder.h"

namespace rush {
namespace {

/// Builds a chain of random layers with residuals. `quantized`: as PT2E writes it, a quantize and a dequantize
/// behind most layers; else float with batch norms.
class RandomModel {
 public:
  RandomModel(uint64_t seed, bool quantized) : b_(seed), quantized_(quantized) {}

  Graph build() {
    x_ = b_.input(GraphBuilder::float_type({any(1, 2), any(1, 4), any(3, 8), any(3, 8)}));
    if (chance(0.3)) x_ = b_.node(Permute{{0, 3, 1, 2}}, {x_});
    observe();
    for (int64_t layers = any(2, 7); layers > 0; --layers) add_layer();
    if (chance(0.3)) b_.output(x_);
    if (chance(0.7)) add_head();
    b_.output(x_);
    return b_.graph();
  }

 private:
  int64_t any(int64_t low, int64_t high) { return b_.random().integer(low, high); }
  bool chance(double probability) { return b_.random().chance(probability); }
  Shape shape() const { return b_.graph().type(x_).shape; }

  void apply(Op op) { x_ = b_.node(std::move(op), {x_}); }

  /// quantize -> dequantize with a scale of its own, as an observer places them.
  void observe() {
    if (!quantized_) return;
    quant_ = random_quant(b_.random());
    quant_.scale[0] = static_cast<float>(b_.random().real(0.02, 0.1));
    observe_again();
  }

  /// The same parameters once more, as for operators that share them with their input.
  void observe_again() {
    if (!quantized_) return;
    x_ = b_.node(Dequantize{}, {b_.node(Quantize{}, {x_}, quant_)});
  }

  /// Quantizers leave operators that move data without, give them their input's parameters, or new ones.
  void maybe_observe() {
    const double choice = b_.random().real(0, 1);
    if (choice < 0.4) observe_again();
    if (choice > 0.8) observe();
  }

  void add_layer() {
    using Layer = void (RandomModel::*)();
    static constexpr auto kLayers = std::to_array<Layer>(
        {&RandomModel::conv, &RandomModel::conv, &RandomModel::depthwise, &RandomModel::pad, &RandomModel::pool,
         &RandomModel::max_pool, &RandomModel::relu, &RandomModel::dropout, &RandomModel::residual, &RandomModel::dense,
         &RandomModel::sequence, &RandomModel::turn, &RandomModel::conv1d});
    (this->*kLayers[static_cast<size_t>(any(0, kLayers.size() - 1))])();
  }

  TensorId float_constant(Shape shape, double low, double high) {
    HostTensor data(DType::kFloat32, std::move(shape));
    for (int64_t i = 0; i < data.size(); ++i) data.set_number(i, b_.random().real(low, high));
    return b_.constant(std::move(data));
  }

  TensorId weight(const Shape& shape) {
    if (!quantized_) return float_constant(shape, -0.5, 0.5);
    if (chance(0.5)) return b_.node(Dequantize{}, {b_.weights(shape)});
    const Quant tensor{.scale = {0.01}, .zero_point = {0}};
    return b_.node(Dequantize{}, {b_.constant(TensorType{DType::kInt8, shape, tensor})});
  }

  std::vector<TensorId> with_bias(std::vector<TensorId> inputs, int64_t channels) {
    if (chance(0.3)) return inputs;
    inputs.push_back(float_constant({channels}, -1, 1));
    return inputs;
  }

  void maybe_activate() {
    if (!quantized_ && chance(0.6)) batch_norm();
    if (chance(0.5)) apply(Clamp{.min = 0, .max = chance(0.5) ? 6.0 : INFINITY});
    observe();
  }

  void batch_norm() {
    const int64_t channels = shape()[1];
    const TensorId scale = float_constant({channels}, 0.5, 1.5), shift = float_constant({channels}, -1, 1);
    const TensorId mean = float_constant({channels}, -1, 1), var = float_constant({channels}, 0.5, 2);
    x_ = b_.node(BatchNorm{}, {x_, scale, shift, mean, var});
  }

  void conv() {
    const int64_t out = any(1, 6), kh = std::min(any(1, 3), shape()[2]), kw = std::min(any(1, 3), shape()[3]);
    const Conv2d op{.stride = {any(1, 2), any(1, 2)}, .padding = {any(0, 1), any(0, 1), any(0, 1), any(0, 1)}};
    x_ = b_.node(op, with_bias({x_, weight({out, shape()[1], kh, kw})}, out));
    maybe_activate();
  }

  void depthwise() {
    const int64_t channels = shape()[1];
    const Conv2d op{.padding = {1, 1, 1, 1}, .groups = channels};
    x_ = b_.node(op, with_bias({x_, weight({channels, 1, 3, 3})}, channels));
    maybe_activate();
  }

  /// Along the width, with views around and an observer that may stand inside them.
  void conv1d() {
    const Shape s = shape();
    apply(Reshape{{s[0], s[1], s[2] * s[3]}});
    if (chance(0.5)) apply(Pad{{0, 0, 0, 0, any(0, 2), any(0, 2)}, 0});
    maybe_observe();
    const int64_t length = shape()[2], out = any(1, 4);
    apply(Reshape{{s[0], s[1], 1, length}});
    x_ = b_.node(Conv2d{}, with_bias({x_, weight({out, s[1], 1, std::min<int64_t>(2, length)})}, out));
    apply(Reshape{{s[0], out, shape()[3]}});
    maybe_activate();
    apply(Reshape{{s[0], out, 1, shape()[2]}});
  }

  void pad() {
    apply(Pad{{0, 0, 0, 0, any(0, 2), any(0, 2), any(0, 2), any(0, 2)}, chance(0.7) ? 0.0 : 0.37});
    maybe_observe();
  }

  void pool() {
    const int64_t kh = std::min(any(2, 3), shape()[2]), kw = std::min(any(2, 3), shape()[3]);
    apply(AvgPool2d{.kernel = {kh, kw}, .stride = {any(1, 2), any(1, 2)}, .count_include_pad = chance(0.5)});
    chance(0.5) ? observe() : observe_again();
  }

  void max_pool() {
    const int64_t kh = std::min(any(2, 3), shape()[2]), kw = std::min(any(2, 3), shape()[3]);
    apply(MaxPool2d{
        .kernel = {kh, kw}, .stride = {any(1, 2), any(1, 2)}, .padding = {any(0, kh > 1), 0, any(0, kw > 1), 0}});
    if (chance(0.3)) apply(Clamp{.min = 0});
    maybe_observe();
  }

  void relu() {
    apply(Clamp{.min = 0, .max = chance(0.5) ? 1.5 : INFINITY});
    maybe_observe();
  }

  void dropout() {
    apply(Identity{"dropout"});
    maybe_observe();
  }

  /// The sum with what a convolution of the same size makes of it.
  void residual() {
    const TensorId before = x_;
    depthwise();
    x_ = b_.node(Add{}, {before, x_});
    maybe_activate();
  }

  void dense() {
    const TensorId before = x_;
    depthwise();
    x_ = b_.node(Concat{1}, {before, x_});
    chance(0.5) ? observe() : maybe_observe();
  }

  /// (N,C,H,W) -> (N,HW,C) -> linear -> (N,C',H,W).
  void sequence() {
    const Shape s = shape();
    apply(Reshape{{s[0], s[1], s[2] * s[3]}});
    maybe_observe();
    apply(Permute{{0, 2, 1}});
    maybe_observe();
    const int64_t out = any(1, 4);
    x_ = b_.node(Linear{}, with_bias({x_, weight({out, s[1]})}, out));
    observe();
    apply(Permute{{0, 2, 1}});
    maybe_observe();
    apply(Reshape{{s[0], out, s[2], s[3]}});
  }

  void turn() {
    static const auto kTurns = std::to_array<std::vector<int64_t>>({{0, 1, 3, 2}, {0, 2, 3, 1}, {0, 3, 1, 2}});
    apply(Permute{kTurns[static_cast<size_t>(any(0, 2))]});
    maybe_observe();
  }

  void add_head() {
    if (chance(0.5)) {
      apply(Mean{{2, 3}, false});
      observe();
    } else {
      apply(Reshape{{shape()[0], element_count(shape()) / shape()[0]}});
      maybe_observe();
      if (chance(0.3)) relu();
    }
    x_ = b_.node(Linear{}, with_bias({x_, weight({5, shape()[1]})}, 5));
    observe();
    if (chance(0.5)) unflatten();
    if (chance(0.5)) return;
    apply(Softmax{1});
    observe();
  }

  void unflatten() {
    const int64_t n = shape()[0];
    x_ = b_.node(Linear{}, with_bias({x_, weight({12, shape()[1]})}, 12));
    observe();
    apply(Reshape{{n, 3, 2, 2}});
    depthwise();
  }

  GraphBuilder b_;
  bool quantized_;
  TensorId x_;
  Quant quant_;
};

std::vector<HostTensor> exported_outputs(const Graph& graph, uint64_t seed) {
  Random random(seed);
  std::vector<HostTensor> inputs, outputs;
  for (const Port& port : graph.inputs)
    inputs.push_back(
        to_memory(port_format(graph, port), random_tensor(random, {port.exported_dtype, port.exported_shape, {}})));
  const std::vector<HostTensor> memory = run_graph(graph, inputs);
  for (size_t i = 0; i < memory.size(); ++i)
    outputs.push_back(from_memory(port_format(graph, graph.outputs[i]), memory[i]));
  return outputs;
}

double largest(const HostTensor& a) {
  double largest = 0;
  for (int64_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a.number(i)));
  return largest;
}

double largest_difference(const HostTensor& a, const HostTensor& b) {
  double largest = 0;
  for (int64_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a.number(i) - b.number(i)));
  return largest;
}

/// The passes that compute integers where there were floats; what they change is tested operator by operator.
bool changes_arithmetic(std::string_view pass) { return pass == "fold_quantization" || pass == "cancel_quantization"; }

constexpr uint64_t kSeeds = 200;

void expect_same_codes(uint64_t seed) {
  Graph graph = RandomModel(seed, true).build();
  verify(graph);
  std::vector<HostTensor> expected = exported_outputs(graph, seed);
  for (const Pass& pass : kPasses) {
    const Graph before = graph;
    graph = pass.run(std::move(graph));
    verify(graph);
    const std::vector<HostTensor> got = exported_outputs(graph, seed);
    ASSERT_TRUE(changes_arithmetic(pass.name) || got == expected) << "seed " << seed << ", " << pass.name << "\n"
                                                                  << print(before) << print(graph);
    expected = got;
  }
}

TEST(Meaning, OfQuantizedModelsIsKeptBitForBit) {
  for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) expect_same_codes(seed);
}

void expect_near(uint64_t seed) {
  Graph graph = RandomModel(seed, false).build();
  verify(graph);
  const std::vector<HostTensor> expected = exported_outputs(graph, seed);
  for (const Pass& pass : kPasses) {
    graph = pass.run(std::move(graph));
    verify(graph);
    const std::vector<HostTensor> got = exported_outputs(graph, seed);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_LE(largest_difference(got[i], expected[i]), 1e-5 * (1 + largest(expected[i])))
          << "seed " << seed << ", " << pass.name << "\n"
          << print(graph);
  }
}

TEST(Meaning, OfFloatModelsIsKeptButForRounding) {
  for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) expect_near(seed);
}

/// What the torch stage computes, by tensor name; and in NHWC under "<name>.nhwc".
class Reference {
 public:
  Reference(const Graph& graph, uint64_t seed) {
    Random random(seed);
    std::vector<HostTensor> inputs;
    for (const Port& port : graph.inputs) {
      inputs.push_back(random_tensor(random, graph.type(port.tensor)));
      values_[graph[port.tensor].name] = inputs.back();
    }
    run_graph(graph, inputs, [&](const Node& node, size_t i, const HostTensor& value) {
      values_[graph[node.outputs[i]].name] = value;
    });
  }

  std::optional<HostTensor> find(const std::string& name) const {
    if (const auto it = values_.find(name); it != values_.end()) return it->second;
    if (!name.ends_with(".nhwc")) return std::nullopt;
    const auto it = values_.find(name.substr(0, name.size() - 5));
    if (it == values_.end() || it->second.shape().size() != 4) return std::nullopt;
    return permuted(it->second, {0, 2, 3, 1});
  }

 private:
  std::map<std::string, HostTensor> values_;
};

/// The node evaluated on the reference's values, or nothing where the reference lacks one.
std::optional<HostTensor> evaluated(const Graph& graph, const Node& node, const Reference& reference) {
  std::vector<HostTensor> values;
  for (TensorId id : node.inputs) {
    std::optional<HostTensor> value;
    if (id.valid()) value = graph[id].is_constant() ? *graph[id].data : reference.find(graph[id].name);
    if (id.valid() && !value) return std::nullopt;
    values.push_back(value.value_or(HostTensor()));
  }
  Tensors inputs;
  for (size_t i = 0; i < values.size(); ++i) inputs.push_back(node.inputs[i].valid() ? &values[i] : nullptr);
  return find_op(node.op.name())->evaluate({graph, node}, inputs).at(0);
}

/// Compares the final graph's nodes on the torch stage's values; how many could be.
int compare_nodes(uint64_t seed) {
  Graph graph = RandomModel(seed, true).build();
  const Reference reference(graph, seed);
  for (const Pass& pass : kPasses) graph = pass.run(std::move(graph));
  int compared = 0;
  for (const Node& node : graph.nodes) {
    const std::string& name = graph[node.out()].name;
    const auto expected = reference.find(name);
    const auto got = expected ? evaluated(graph, node, reference) : std::nullopt;
    if (!got) continue;
    ++compared;
    EXPECT_EQ(got->dtype(), expected->dtype()) << "seed " << seed << ", " << name;
    EXPECT_EQ(got->shape(), expected->shape()) << "seed " << seed << ", " << name;
    if (testing::Test::HasFailure()) return compared;
    EXPECT_LE(largest_difference(*got, *expected), got->dtype() == DType::kInt8 ? 1 : 0)
        << "seed " << seed << ", " << name << "\n"
        << print(graph);
  }
  return compared;
}

TEST(Meaning, OfATensorNameIsKeptAndOperatorsAreOneCodeOffAtMost) {
  int compared = 0;
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) compared += compare_nodes(seed);
  EXPECT_GT(compared, 600);
}

}  // namespace
}  // namespace rush
