// SPDX-License-Identifier: Apache-2.0
#include "tests/support/sample_graphs.h"

#include <functional>

#include "compiler/emit/emit.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/activation/activation_op.h"
#include "ops/add/add_op.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/linear/linear_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/mean/mean_op.h"
#include "ops/pad/pad_op.h"
#include "ops/permute/permute_op.h"
#include "ops/quantize/quantize_op.h"
#include "ops/rescale/rescale_op.h"
#include "ops/softmax/softmax_op.h"
#include "tests/support/graph_builder.h"
#include "tests/support/hand_programs.h"

namespace rush {
namespace {

using Build = std::function<TensorId(GraphBuilder&, TensorId)>;

/// How a graph of one or more nodes over one input is made.
struct Recipe {
  const char* name;
  Shape input;
  bool quantized;
  Build build;
};

std::optional<Quant> like(const GraphBuilder& b, TensorId x) { return b.graph().type(x).quant; }

std::optional<Quant> fresh(GraphBuilder& b, TensorId x) {
  return like(b, x) ? std::optional(random_quant(b.random())) : std::nullopt;
}

/// An operator over x alone, whose output has x's quantization.
template <class T>
Build same_quant_node(T op) {
  return [op](GraphBuilder& b, TensorId x) { return b.node(op, {x}, like(b, x)); };
}

template <class T>
Build new_quant_node(T op) {
  return [op](GraphBuilder& b, TensorId x) { return b.node(op, {x}, fresh(b, x)); };
}

TensorId weights_for(GraphBuilder& b, TensorId x, const Shape& shape) {
  return like(b, x) ? b.weights(shape) : b.constant(GraphBuilder::float_type(shape));
}

TensorId bias_for(GraphBuilder& b, TensorId x, TensorId weights) {
  return like(b, x) ? b.bias(x, weights, 9) : b.constant(GraphBuilder::float_type({b.graph().type(weights).shape[0]}));
}

template <class T>
TensorId weighted_node(GraphBuilder& b, TensorId x, const T& op, const Shape& weights_shape) {
  const TensorId weights = weights_for(b, x, weights_shape);
  return b.node(op, {x, weights, bias_for(b, x, weights)}, fresh(b, x));
}

template <class T>
Build weighted(T op, Shape weights_shape) {
  return [=](GraphBuilder& b, TensorId x) { return weighted_node(b, x, op, weights_shape); };
}

Conv2d nhwc(Conv2d conv) {
  conv.layout = "nhwc";
  return conv;
}

Build added_to(Shape other) {
  return [other](GraphBuilder& b, TensorId x) {
    const TensorType type = like(b, x) ? b.int8_type(other) : GraphBuilder::float_type(other);
    return b.node(Add{}, {x, b.constant(type)}, fresh(b, x));
  };
}

TensorId concat_with_itself(GraphBuilder& b, TensorId x) { return b.node(Concat{3}, {x, x}, like(b, x)); }
TensorId to_codes(GraphBuilder& b, TensorId x) { return b.node(Quantize{}, {x}, random_quant(b.random())); }
TensorId to_floats(GraphBuilder& b, TensorId x) { return b.node(Dequantize{}, {x}); }

TensorId two_convolutions(GraphBuilder& b, TensorId x) {
  const Conv2d conv = nhwc({.padding = {1, 1, 1, 1}});
  return weighted_node(b, weighted_node(b, x, conv, {4, 3, 3, 3}), conv, {2, 3, 3, 4});
}

std::vector<Recipe> recipes() {
  const Shape map = {1, 5, 4, 3};
  std::vector<Recipe> all = {
      {"activation_s8", map, true, new_quant_node(Activation{.function = "tanh"})},
      {"rescale_s8", map, true, new_quant_node(Rescale{})},
      {"quantize", map, false, to_codes},
      {"dequantize", map, true, to_floats},
      {"depthwise_s8", map, true, weighted(nhwc({.padding = {1, 1, 1, 1}, .groups = 3}), {3, 3, 3, 1})},
      {"conv_grouped_s8", {1, 5, 4, 4}, true, weighted(nhwc({.groups = 2}), {6, 3, 2, 2})},
      {"conv_dilated_s8", {1, 7, 7, 2}, true, weighted(nhwc({.dilation = {2, 3}}), {3, 3, 2, 2})},
      {"conv_pointwise_s8", {1, 3, 3, 17}, true, weighted(nhwc({}), {5, 1, 1, 17})},
      {"two_convolutions_s8", {1, 8, 4, 3}, true, two_convolutions},
  };
  for (const bool quantized : {true, false}) {
    const auto add = [&](const char* name, const Shape& shape, Build build) {
      all.push_back({name, shape, quantized, std::move(build)});
    };
    add("clamp", map, same_quant_node(Clamp{-1, 1}));
    add("conv_strided", map, weighted(nhwc({.stride = {2, 1}, .padding = {0, 1, 1, 0}}), {5, 3, 2, 3}));
    add("linear", {2, 19}, weighted(Linear{}, {5, 19}));
    add("add", map, added_to(map));
    add("add_broadcast", map, added_to({4, 1}));
    add("add_channels", map, added_to({3}));
    add("avg_pool", map,
        new_quant_node(AvgPool2d{.kernel = {3, 2}, .stride = {2, 1}, .padding = {1, 1, 0, 1}, .layout = "nhwc"}));
    add("max_pool", map,
        same_quant_node(MaxPool2d{.kernel = {2, 3}, .stride = {1, 2}, .padding = {1, 0, 1, 1}, .layout = "nhwc"}));
    add("mean", map, new_quant_node(Mean{{1, 2}, false}));
    add("mean_channels", map, new_quant_node(Mean{{3}, false}));
    add("softmax", {3, 10}, new_quant_node(Softmax{1}));
    add("softmax_rows", map, new_quant_node(Softmax{1}));
    add("pad", map, same_quant_node(Pad{{0, 0, 1, 2, 2, 0, 0, 1}, 0.5}));
    add("permute", map, same_quant_node(Permute{{0, 3, 1, 2}}));
    add("concat", map, concat_with_itself);
  }
  return all;
}

Graph build(const Recipe& recipe) {
  GraphBuilder b(42);
  const TensorId x = b.input(recipe.quantized ? b.int8_type(recipe.input) : GraphBuilder::float_type(recipe.input));
  b.output(recipe.build(b, x));
  return b.graph();
}

std::vector<uint8_t> planned_image(Program program) {
  plan_memory(program);
  return emit_image(program, {.full_kernel_table = true});
}

}  // namespace

std::vector<SampleGraph> sample_graphs() {
  std::vector<SampleGraph> graphs;
  for (const Recipe& recipe : recipes())
    graphs.push_back({std::string(recipe.name) + (recipe.quantized ? "" : "_f32"), build(recipe)});
  return graphs;
}

std::vector<SampleImage> sample_images(Isa isa) {
  std::vector<SampleImage> images;
  for (const SampleGraph& sample : sample_graphs()) {
    Program program = lower_graph(sample.graph, isa, "test");
    images.push_back({sample.name, planned_image(program)});
    if (sample.name != "two_convolutions_s8") continue;
    make_chain(program, 0, 2);
    images.push_back({"chain_s8", planned_image(program)});
  }
  images.push_back({"clamp", emit_image(clamp_program(isa), {.full_kernel_table = true})});
  images.push_back({"clamp_chain", emit_image(clamp_chain_program(isa), {.full_kernel_table = true})});
  images.push_back({"accumulator", emit_image(accumulator_program(isa), {.full_kernel_table = true})});
  return images;
}

}  // namespace rush
