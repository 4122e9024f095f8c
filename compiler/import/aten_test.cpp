// SPDX-License-Identifier: Apache-2.0
//
// One exported operator at a time: what it becomes. Shapes that PyTorch computed are in the recorded values; the
// importer refuses to disagree with them.
#include <gtest/gtest.h>

#include "ops/activation/activation_op.h"
#include "ops/add/add_op.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/cast/cast_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/concat/concat_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/identity/identity_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/mean/mean_op.h"
#include "ops/pad/pad_op.h"
#include "ops/permute/permute_op.h"
#include "ops/reshape/reshape_op.h"
#include "ops/softmax/softmax_op.h"
#include "tests/support/import_check.h"

namespace rush {
namespace {

HostTensor ramp(const Shape& shape) {
  HostTensor tensor(DType::kFloat32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.set_number(i, static_cast<double>(i));
  return tensor;
}

/// One operator on x, whose result PyTorch says has shape `result`.
Graph one_node(const Shape& x, const std::string& target, std::vector<Pt2Argument> arguments, const Shape& result) {
  arguments.insert(arguments.begin(), {"self", as_tensor("x")});
  return import_of(Pt2Writer().input("x", x).node("y", target, arguments).record("y", result).output("y"));
}

std::string one_node_error(const Shape& x, const std::string& target, std::vector<Pt2Argument> arguments) {
  arguments.insert(arguments.begin(), {"self", as_tensor("x")});
  return import_error(Pt2Writer().input("x", x).node("y", target, arguments).output("y"));
}

Pt2Writer conv_writer(const Shape& x, const Shape& weight) {
  return Pt2Writer().input("x", x).parameter("c.weight", ramp(weight));
}

std::vector<Pt2Argument> conv_arguments(std::vector<Pt2Argument> more) {
  more.insert(more.begin(), {{"input", as_tensor("x")}, {"weight", as_tensor("p_c_weight")}});
  return more;
}

const Conv2d& conv_of(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    if (const Conv2d* conv = node.as<Conv2d>()) return *conv;
  }
  throw InternalError("no conv2d");
}

TEST(Aten, Conv2dDefaults) {
  const Graph graph = import_of(conv_writer({1, 2, 5, 5}, {3, 2, 3, 3})
                                    .node("y", "aten.conv2d.default", conv_arguments({}))
                                    .record("y", {1, 3, 3, 3})
                                    .output("y"));
  EXPECT_EQ(conv_of(graph), Conv2d{});
}

TEST(Aten, Conv2dArguments) {
  const Graph graph = import_of(conv_writer({1, 2, 9, 9}, {4, 1, 3, 2})
                                    .node("y", "aten.conv2d.default",
                                          conv_arguments({{"stride", as_ints({2})},
                                                          {"padding", as_ints({1, 0})},
                                                          {"dilation", as_ints({1, 3})},
                                                          {"groups", as_int(2)}}))
                                    .record("y", {1, 4, 5, 3})
                                    .output("y"));
  EXPECT_EQ(conv_of(graph), (Conv2d{.stride = {2, 2}, .padding = {1, 1, 0, 0}, .dilation = {1, 3}, .groups = 2}));
}

// PyTorch puts the odd one of 'same' at the end.
TEST(Aten, Conv2dSamePaddingOfEvenKernels) {
  const Graph graph =
      import_of(conv_writer({1, 1, 6, 7}, {2, 1, 4, 2})
                    .node("y", "aten.conv2d.padding",
                          conv_arguments({{"padding", as_string("same")}, {"dilation", as_ints({1, 3})}}))
                    .record("y", {1, 2, 6, 7})
                    .output("y"));
  EXPECT_EQ(conv_of(graph).padding, (std::vector<int64_t>{1, 2, 1, 2}));
}

TEST(Aten, ConvolutionOfCoreAten) {
  const std::vector<Pt2Argument> all = {{"stride", as_ints({1, 1})},         {"padding", as_ints({0, 0})},
                                        {"dilation", as_ints({1, 1})},       {"transposed", as_bool(false)},
                                        {"output_padding", as_ints({0, 0})}, {"groups", as_int(1)}};
  const Graph graph = import_of(conv_writer({1, 2, 5, 5}, {3, 2, 3, 3})
                                    .node("y", "aten.convolution.default", conv_arguments(all))
                                    .record("y", {1, 3, 3, 3})
                                    .output("y"));
  EXPECT_EQ(conv_of(graph), Conv2d{});
}

TEST(Aten, ChainOf1dLayersIsAChainOfMaps) {
  const Graph graph =
      import_of(Pt2Writer()
                    .input("x", {1, 2, 8})
                    .parameter("a.weight", ramp({3, 2, 3}))
                    .parameter("b.weight", ramp({2, 3, 1}))
                    .node("h", "aten.conv1d.default",
                          {{"input", as_tensor("x")}, {"weight", as_tensor("p_a_weight")}, {"padding", as_ints({1})}})
                    .record("h", {1, 3, 8})
                    .node("r", "aten.relu.default", {{"self", as_tensor("h")}})
                    .record("r", {1, 3, 8})
                    .node("p", "aten.pad.default", {{"self", as_tensor("r")}, {"pad", as_ints({2, 0})}})
                    .record("p", {1, 3, 10})
                    .node("y", "aten.conv1d.default", {{"input", as_tensor("p")}, {"weight", as_tensor("p_b_weight")}})
                    .record("y", {1, 2, 10})
                    .output("y"));
  expect_graph(graph, R"(
input %x: float32[1,2,8]
const @a.weight: float32[3,2,1,3] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17]
const @b.weight: float32[2,3,1,1] = [0, 1, 2, 3, 4, 5]
%x_map: float32[1,2,1,8] = reshape(%x) {shape=[1,2,1,8]} "h"
%h: float32[1,3,1,8] = conv2d(%x_map, @a.weight, _) {padding=[0,0,1,1]} "h"
%r: float32[1,3,1,8] = clamp(%h) {min=0} "r"
%p: float32[1,3,1,10] = pad(%r) {amounts=[0,0,0,0,0,0,2,0]} "p"
%y: float32[1,2,1,10] = conv2d(%p, @b.weight, _) "y"
%y_line: float32[1,2,10] = reshape(%y) {shape=[1,2,10]} "y"
output %y_line {name="y"}
)");
}

// What the quantizer puts in front of a 1-D convolution is done on the map; its per-channel axis stays the first.
TEST(Aten, QuantizedLineIsQuantizedAsAMap) {
  const std::vector<Pt2Argument> per_tensor = {{"scale", as_float(0.5)},
                                               {"zero_point", as_int(3)},
                                               {"quant_min", as_int(-128)},
                                               {"quant_max", as_int(127)},
                                               {"dtype", as_dtype(2)}};
  auto of = [&](const std::string& input) {
    std::vector<Pt2Argument> arguments = per_tensor;
    arguments.insert(arguments.begin(), {"input", as_tensor(input)});
    return arguments;
  };
  const Graph graph =
      import_of(Pt2Writer()
                    .input("x", {1, 2, 8})
                    .buffer("w", make_tensor<int8_t>(DType::kInt8, {2, 2, 1}, {1, -2, 3, -4}))
                    .buffer("scales", make_tensor<float>(DType::kFloat32, {2}, {0.25f, 0.75f}))
                    .buffer("zeros", make_tensor<int64_t>(DType::kInt64, {2}, {0, 0}))
                    .node("q", "quantized_decomposed.quantize_per_tensor.default", of("x"))
                    .node("dq", "quantized_decomposed.dequantize_per_tensor.default", of("q"))
                    .node("dw", "quantized_decomposed.dequantize_per_channel.default",
                          {{"input", as_tensor("b_w")},
                           {"scales", as_tensor("b_scales")},
                           {"zero_points", as_tensor("b_zeros")},
                           {"axis", as_int(0)},
                           {"quant_min", as_int(-127)},
                           {"quant_max", as_int(127)},
                           {"dtype", as_dtype(2)}})
                    .node("y", "aten.conv1d.default", {{"input", as_tensor("dq")}, {"weight", as_tensor("dw")}})
                    .record("y", {1, 2, 8})
                    .output("y"));
  expect_graph(graph, R"(
input %x: float32[1,2,8]
const @w: int8[2,2,1,1] q[0](0.25,0; 0.75,0 in -127..127) = [1, -2, 3, -4]
%x_map: float32[1,2,1,8] = reshape(%x) {shape=[1,2,1,8]} "y"
%q: int8[1,2,1,8] q(0.5,3) = quantize(%x_map) "y"
%dq: float32[1,2,1,8] = dequantize(%q) "y"
%dw: float32[2,2,1,1] = dequantize(@w) "y"
%y: float32[1,2,1,8] = conv2d(%dq, %dw, _) "y"
%y_line: float32[1,2,8] = reshape(%y) {shape=[1,2,8]} "y"
output %y_line {name="y"}
)");
}

// [N,T,C] transposed for a 1-D convolution is already a channels-last map.
TEST(Aten, TransposeBefore1dConvolutionBecomesALayout) {
  const Graph graph = import_of(
      Pt2Writer()
          .input("x", {1, 8, 2})
          .parameter("w", ramp({1, 2, 1}))
          .node("t", "aten.transpose.int", {{"self", as_tensor("x")}, {"dim0", as_int(1)}, {"dim1", as_int(-1)}})
          .record("t", {1, 2, 8})
          .node("y", "aten.conv1d.default", {{"input", as_tensor("t")}, {"weight", as_tensor("p_w")}})
          .node("m", "aten.mean.dim", {{"self", as_tensor("y")}, {"dim", as_ints({2})}})
          .record("m", {1, 1})
          .output("m"));
  expect_graph(graph, R"(
input %x: float32[1,8,2]
const @w: float32[1,2,1,1] = [0, 1]
%x_map: float32[1,1,8,2] = reshape(%x) {shape=[1,1,8,2]} "y"
%t.2: float32[1,2,1,8] = permute(%x_map) {axes=[0,3,1,2]} "t"
%y: float32[1,1,1,8] = conv2d(%t.2, @w, _) "y"
%m: float32[1,1] = mean(%y) {axes=[2,3]} "m"
output %m
)");
}

TEST(Aten, AddmmTakesThePermutedWeight) {
  const Graph graph = import_of(
      Pt2Writer()
          .input("x", {1, 3})
          .parameter("fc.weight", ramp({2, 3}))
          .parameter("fc.bias", ramp({2}))
          .node("permute", "aten.permute.default", {{"self", as_tensor("p_fc_weight")}, {"dims", as_ints({1, 0})}})
          .record("permute", {3, 2})
          .node("y", "aten.addmm.default",
                {{"self", as_tensor("p_fc_bias")}, {"mat1", as_tensor("x")}, {"mat2", as_tensor("permute")}})
          .record("y", {1, 2})
          .output("y"));
  expect_graph(graph, R"(
input %x: float32[1,3]
const @fc.weight: float32[2,3] = [0, 1, 2, 3, 4, 5]
const @fc.bias: float32[2] = [0, 1]
%y: float32[1,2] = linear(%x, @fc.weight, @fc.bias) "y"
output %y
)");
}

TEST(Aten, AddmmTransposesAConstant) {
  const Graph graph =
      import_of(Pt2Writer()
                    .input("x", {1, 3})
                    .parameter("w", ramp({3, 2}))
                    .node("y", "aten.mm.default", {{"self", as_tensor("x")}, {"mat2", as_tensor("p_w")}})
                    .record("y", {1, 2})
                    .output("y"));
  expect_graph(graph, R"(
input %x: float32[1,3]
const @w_t: float32[2,3] = [0, 2, 4, 1, 3, 5]
%y: float32[1,2] = linear(%x, @w_t, _) "y"
output %y
)");
}

TEST(Aten, Pools) {
  const Shape x = {1, 2, 7, 6};
  auto only = [](const Graph& graph) { return graph.nodes.at(graph.nodes.size() == 1 ? 0 : 1).op; };
  // A port of a model with pools is channels-last where it can be; here it cannot.
  EXPECT_EQ(only(one_node(x, "aten.avg_pool2d.default", {{"kernel_size", as_ints({3, 2})}}, {1, 2, 2, 3})),
            Op(AvgPool2d{.kernel = {3, 2}, .stride = {3, 2}}));
  EXPECT_EQ(
      only(one_node(x, "aten.avg_pool2d.default",
                    {{"kernel_size", as_ints({3})},
                     {"stride", as_ints({2})},
                     {"padding", as_ints({1, 0})},
                     {"ceil_mode", as_bool(true)},
                     {"count_include_pad", as_bool(false)}},
                    {1, 2, 4, 3})),
      Op(AvgPool2d{
          .kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1, 0, 0}, .ceil_mode = true, .count_include_pad = false}));
  EXPECT_EQ(only(one_node(x, "aten.max_pool2d.default",
                          {{"kernel_size", as_ints({2, 2})}, {"stride", as_ints({})}, {"dilation", as_ints({2})}},
                          {1, 2, 3, 2})),
            Op(MaxPool2d{.kernel = {2, 2}, .stride = {2, 2}, .dilation = {2, 2}}));
}

// Windows as PyTorch's adaptive_avg_pool2d documents them: [floor(i*in/out), ceil((i+1)*in/out)).
TEST(Aten, AdaptivePoolsWithEqualWindows) {
  auto pooled = [](const std::vector<int64_t>& size, const Shape& result) {
    return one_node({1, 2, 7, 6}, "aten.adaptive_avg_pool2d.default", {{"output_size", as_ints(size)}}, result)
        .nodes.at(0)
        .op;
  };
  EXPECT_EQ(pooled({1, 1}, {1, 2, 1, 1}), Op(Mean{{2, 3}, true}));
  EXPECT_EQ(pooled({3, 2}, {1, 2, 3, 2}), Op(AvgPool2d{.kernel = {3, 3}, .stride = {2, 3}}));
  EXPECT_EQ(pooled({7, 6}, {1, 2, 7, 6}), Op(AvgPool2d{.kernel = {1, 1}, .stride = {1, 1}}));
  EXPECT_EQ(one_node_error({1, 2, 7, 6}, "aten.adaptive_avg_pool2d.default", {{"output_size", as_ints({5, 6})}}),
            "error: adaptive_avg_pool2d \"y\": adaptive pooling of 7 to 5, windows of unequal size, is not supported\n"
            "  fix: replace this layer by supported ones");
}

TEST(Aten, Means) {
  EXPECT_EQ(one_node({2, 3, 4}, "aten.mean.dim", {{"dim", as_ints({-1, 0})}, {"keepdim", as_bool(true)}}, {1, 3, 1})
                .nodes[0]
                .op,
            Op(Mean{{0, 2}, true}));
  EXPECT_EQ(one_node({2, 3, 4}, "aten.mean.default", {}, {}).nodes[0].op, Op(Mean{{0, 1, 2}, false}));
  EXPECT_EQ(one_node({2, 3, 4}, "aten.mean.dim", {{"dim", as_ints({})}}, {}).nodes[0].op, Op(Mean{{0, 1, 2}, false}));
}

TEST(Aten, Reshapes) {
  auto shape_of = [](const std::string& target, std::vector<Pt2Argument> arguments, const Shape& result) {
    return one_node({2, 1, 3, 4}, target, std::move(arguments), result).nodes[0].as<Reshape>()->shape;
  };
  EXPECT_EQ(shape_of("aten.view.default", {{"size", as_ints({2, -1})}}, {2, 12}), (Shape{2, 12}));
  EXPECT_EQ(shape_of("aten.reshape.default", {{"shape", as_ints({24})}}, {24}), (Shape{24}));
  EXPECT_EQ(shape_of("aten.flatten.using_ints", {}, {24}), (Shape{24}));
  EXPECT_EQ(shape_of("aten.flatten.using_ints", {{"start_dim", as_int(1)}, {"end_dim", as_int(-2)}}, {2, 3, 4}),
            (Shape{2, 3, 4}));
  EXPECT_EQ(shape_of("aten.unflatten.int", {{"dim", as_int(-1)}, {"sizes", as_ints({2, -1})}}, {2, 1, 3, 2, 2}),
            (Shape{2, 1, 3, 2, 2}));
  EXPECT_EQ(shape_of("aten.unsqueeze.default", {{"dim", as_int(-1)}}, {2, 1, 3, 4, 1}), (Shape{2, 1, 3, 4, 1}));
  EXPECT_EQ(shape_of("aten.squeeze.default", {}, {2, 3, 4}), (Shape{2, 3, 4}));
  EXPECT_EQ(shape_of("aten.squeeze.dim", {{"dim", as_int(1)}}, {2, 3, 4}), (Shape{2, 3, 4}));
  EXPECT_EQ(shape_of("aten.squeeze.dims", {{"dim", as_ints({0, 1})}}, {2, 3, 4}), (Shape{2, 3, 4}));
}

TEST(Aten, Transposes) {
  auto axes_of = [](const Graph& graph) { return graph.nodes[0].as<Permute>()->axes; };
  using Axes = std::vector<int64_t>;
  EXPECT_EQ(axes_of(one_node({2, 3, 4}, "aten.permute.default", {{"dims", as_ints({-1, 0, 1})}}, {4, 2, 3})),
            (Axes{2, 0, 1}));
  EXPECT_EQ(axes_of(one_node({2, 3, 4}, "aten.transpose.int", {{"dim0", as_int(0)}, {"dim1", as_int(-1)}}, {4, 3, 2})),
            (Axes{2, 1, 0}));
  EXPECT_EQ(axes_of(one_node({2, 3}, "aten.t.default", {}, {3, 2})), (Axes{1, 0}));
}

// [left, right, top, bottom]: the last axis first.
TEST(Aten, PadAmountsRunFirstAxisFirst) {
  const Graph graph = one_node({1, 2, 3, 4}, "aten.constant_pad_nd.default",
                               {{"pad", as_ints({1, 2, 3, 4})}, {"value", as_float(0.75)}}, {1, 2, 10, 7});
  EXPECT_EQ(graph.nodes[0].op, Op(Pad{{0, 0, 0, 0, 3, 4, 1, 2}, 0.75}));
}

TEST(Aten, Clamps) {
  auto clamp_of = [](const std::string& target, std::vector<Pt2Argument> arguments) {
    return one_node({2}, target, std::move(arguments), {2}).nodes[0].op;
  };
  EXPECT_EQ(clamp_of("aten.relu.default", {}), Op(Clamp{0, INFINITY}));
  EXPECT_EQ(clamp_of("aten.relu6.default", {}), Op(Clamp{0, 6}));
  EXPECT_EQ(clamp_of("aten.hardtanh.default", {}), Op(Clamp{-1, 1}));
  EXPECT_EQ(clamp_of("aten.hardtanh_.default", {{"min_val", as_float(0)}, {"max_val", as_float(6)}}), Op(Clamp{0, 6}));
  EXPECT_EQ(clamp_of("aten.clamp.default", {{"min", as_int(-2)}}), Op(Clamp{-2, INFINITY}));
  EXPECT_EQ(clamp_of("aten.clamp.default", {{"min", "{\"as_none\":true}"}, {"max", as_float(0.5)}}),
            Op(Clamp{-INFINITY, 0.5}));
  EXPECT_EQ(clamp_of("aten.clamp_max.default", {{"max", as_int(3)}}), Op(Clamp{-INFINITY, 3}));
  EXPECT_EQ(clamp_of("aten.clamp_min.default", {{"min", "{\"as_float\":\"-Infinity\"}"}}), Op(Clamp{}));
}

TEST(Aten, Activations) {
  auto op_of = [](const std::string& target, std::vector<Pt2Argument> arguments) {
    return one_node({2}, target, std::move(arguments), {2}).nodes[0].op;
  };
  EXPECT_EQ(op_of("aten.hardswish_.default", {}), Op(Activation{.function = "hardswish"}));
  EXPECT_EQ(op_of("aten.gelu.default", {}), Op(Activation{.function = "gelu"}));
  EXPECT_EQ(op_of("aten.gelu.default", {{"approximate", as_string("tanh")}}), Op(Activation{.function = "gelu_tanh"}));
  EXPECT_EQ(op_of("aten.leaky_relu.default", {}), Op(Activation{.function = "leaky_relu", .alpha = 0.01}));
  EXPECT_EQ(op_of("aten.elu.default", {{"alpha", as_float(0.5)}}), Op(Activation{.function = "elu", .alpha = 0.5}));
  EXPECT_EQ(op_of("aten.celu.default", {{"alpha", as_float(0.5)}}),
            Op(Activation{.function = "elu", .alpha = 0.5, .input_scale = 2}));
  EXPECT_EQ(op_of("aten.softplus.default", {{"beta", as_int(2)}}),
            Op(Activation{.function = "softplus", .input_scale = 2}));
}

TEST(Aten, SumsAndDifferences) {
  expect_graph(one_node({2}, "aten.sub.Tensor", {{"other", as_float(1.5)}, {"alpha", as_int(2)}}, {2}), R"(
input %x: float32[2]
const @y_other: float32[] = [-3]
%y: float32[2] = add(%x, @y_other) "y"
output %y
)");
  expect_graph(one_node({2}, "aten.rsub.Scalar", {{"other", as_int(1)}}, {2}), R"(
input %x: float32[2]
const @y_other: float32[] = [1]
%y: float32[2] = add(@y_other, %x) {alpha=-1} "y"
output %y
)");
  // Core ATen's form of 1 - x.
  expect_graph(import_of(Pt2Writer()
                             .input("x", {2})
                             .node("y", "aten.sub.Tensor", {{"self", as_int(1)}, {"other", as_tensor("x")}})
                             .output("y")),
               R"(
input %x: float32[2]
const @y_self: float32[] = [1]
%y: float32[2] = add(@y_self, %x) {alpha=-1} "y"
output %y
)");
  EXPECT_EQ(one_node({2}, "aten.add.Tensor", {{"other", as_tensor("x")}, {"alpha", as_float(0.5)}}, {2}).nodes[0].op,
            Op(Add{.alpha = 0.5}));
}

TEST(Aten, CastsAndCopies) {
  auto op_of = [](const std::string& target, std::vector<Pt2Argument> arguments) {
    return one_node({2}, target, std::move(arguments), {2}).nodes[0].op;
  };
  EXPECT_EQ(op_of("aten.to.dtype", {{"dtype", as_dtype(7)}}), Op(Identity{"to"}));
  EXPECT_EQ(op_of("aten.clone.default", {{"memory_format", "{\"as_memory_format\":2}"}}), Op(Identity{"clone"}));
  EXPECT_EQ(op_of("aten.detach.default", {}), Op(Identity{"alias"}));
  const Graph cast =
      import_of(Pt2Writer()
                    .input("x", {2})
                    .node("y", "aten._to_copy.default", {{"self", as_tensor("x")}, {"dtype", as_dtype(8)}})
                    .output("y"));
  EXPECT_EQ(cast.nodes[0].op, Op(Cast{"float64"}));
  EXPECT_EQ(cast.outputs[0].exported_dtype, DType::kFloat64);
}

TEST(Aten, OtherFloatsThanFloat32AreNamed) {
  EXPECT_EQ(import_error(Pt2Writer()
                             .input("x", {2})
                             .node("d", "aten.to.dtype", {{"self", as_tensor("x")}, {"dtype", as_dtype(8)}})
                             .node("y", "aten.relu.default", {{"self", as_tensor("d")}})
                             .output("y")),
            "error: relu \"y\": float64 is not supported here: input \"d\" is float64 [2]\n"
            "  fix: convert it to float32 (or dequantize it) before this operator");
}

TEST(Aten, TrainingModeIsRefused) {
  EXPECT_EQ(import_error(Pt2Writer()
                             .input("x", {2})
                             .node("y", "aten.dropout.default",
                                   {{"input", as_tensor("x")}, {"p", as_float(0.5)}, {"train", as_bool(true)}})
                             .output("y")),
            "error: dropout \"y\": the model is in training mode\n  fix: call model.eval() before torch.export.export");
}

TEST(Aten, SoftmaxAndConcatTakeNegativeAxes) {
  EXPECT_EQ(one_node({2, 3}, "aten._softmax.default", {{"dim", as_int(-1)}, {"half_to_float", as_bool(false)}}, {2, 3})
                .nodes[0]
                .op,
            Op(Softmax{1}));
  const Graph graph =
      import_of(Pt2Writer()
                    .input("x", {2, 3})
                    .node("y", "aten.cat.default", {{"tensors", as_tensors({"x", "x"})}, {"dim", as_int(-1)}})
                    .record("y", {2, 6})
                    .output("y"));
  EXPECT_EQ(graph.nodes[0].op, Op(Concat{1}));
}

TEST(Aten, WrongArgumentsAreNamed) {
  using testing::HasSubstr;
  EXPECT_THAT(one_node_error({2, 3}, "aten.softmax.int", {{"dim", as_int(2)}}),
              HasSubstr("softmax \"y\": dim 2 is out of range for a tensor of rank 2"));
  EXPECT_THAT(one_node_error({2, 3}, "aten.softmax.int", {{"dim", as_float(1)}}),
              HasSubstr("argument \"dim\" is as_float, expected an integer"));
  EXPECT_THAT(one_node_error({2, 3}, "aten.softmax.int", {}), HasSubstr("argument \"dim\" is missing"));
  EXPECT_THAT(one_node_error({2, 3}, "aten.relu.default", {{"slope", as_int(2)}}),
              HasSubstr("argument \"slope\" is not supported"));
  EXPECT_THAT(one_node_error({2, 3}, "aten.view.default", {{"size", as_ints({4, -1})}}),
              HasSubstr("cannot reshape 6 elements to [4,1]"));
  EXPECT_THAT(one_node_error({2, 3}, "aten.permute.default", {{"dims", as_ints({0, 0})}}),
              HasSubstr("dims [0,0] is not a permutation of 2 axes"));
  EXPECT_THAT(one_node_error({1, 1, 4, 4}, "aten.avg_pool2d.default",
                             {{"kernel_size", as_ints({2})}, {"stride", as_ints({0})}}),
              HasSubstr("kernel [2,2] and stride [0,0] must be positive"));
  EXPECT_THAT(one_node_error({1, 1, 4, 4}, "aten.max_pool2d.default",
                             {{"kernel_size", as_ints({2})}, {"padding", as_ints({2})}}),
              HasSubstr("padding [2,2] is more than half of the kernel [2,2]"));
  EXPECT_THAT(one_node_error({2}, "aten.pad.default", {{"pad", as_ints({-1, 0})}}),
              HasSubstr("negative padding [-1,0]"));
  EXPECT_THAT(one_node_error({2}, "aten.pad.default", {{"pad", as_ints({1, 0})}, {"mode", as_string("reflect")}}),
              HasSubstr("padding mode \"reflect\" is not supported"));
}

}  // namespace
}  // namespace rush
