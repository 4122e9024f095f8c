// SPDX-License-Identifier: Apache-2.0
#include "ops/concat/concat_op.h"

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

/// Three inputs that differ along the axis.
void check_concat(const std::string& name, Shape shape, int64_t axis) {
  for (const bool quantized : {true, false}) {
    const uint64_t seed = 0xc0c0 + static_cast<uint64_t>(axis);
    GraphBuilder b(seed);
    const Quant quant = random_quant(b.random());
    std::vector<TensorId> inputs;
    for (const int64_t size : {3, 1, 5}) {
      shape[static_cast<size_t>(axis)] = size;
      inputs.push_back(b.input(quantized ? TensorType{DType::kInt8, shape, quant} : GraphBuilder::float_type(shape)));
    }
    b.output(b.node(Concat{axis}, inputs, quantized ? std::optional(quant) : std::nullopt));
    check_op(b.graph(), name + (quantized ? "_s8" : "_f32"), seed);
  }
}

TEST(Concat, EveryAxisOfAMap) {
  for (const int64_t axis : {0, 1, 2, 3}) check_concat("concat_map", {1, 4, 3, 7}, axis);
}

TEST(Concat, EveryAxisOfABatch) {
  for (const int64_t axis : {0, 1, 2, 3}) check_concat("concat_batch", {2, 2, 3, 2}, axis);
}

TEST(Concat, Vectors) {
  check_concat("concat_vector", {0}, 0);
  check_concat("concat_rows", {6, 0}, 1);
}

TEST(Concat, RescalesInputsOfOtherScales) {
  for (const int64_t axis : {0, 1, 3}) {
    GraphBuilder b(0xc0f0);
    std::vector<TensorId> inputs;
    for (int i = 0; i < 3; ++i) inputs.push_back(b.input(b.int8_type({1, 4, 3, 7})));
    b.output(b.node(Concat{axis}, inputs, b.graph().type(inputs[1]).quant));
    check_op(b.graph(), "concat_rescaled", 0xc0f0);
  }
}

// quantize(cat(dequantize(x), dequantize(y))): x is (codes - 1) * 0.5, y (codes + 2) * 0.25, the result 0.2 and 3.
TEST(Concat, OfCodesIsTheConcatOfWhatTheyMean) {
  GraphBuilder b(1);
  const auto quant = [](double scale, int64_t zero_point) {
    return Quant{.scale = {scale}, .zero_point = {zero_point}, .axis = -1, .min = -128, .max = 127};
  };
  const TensorId x = b.constant(make_tensor<int8_t>(DType::kInt8, {1, 3}, {1, 3, -128}), quant(0.5, 1));
  const TensorId y = b.constant(make_tensor<int8_t>(DType::kInt8, {1, 2}, {-2, 127}), quant(0.25, -2));
  b.output(b.node(Concat{1}, {x, y}, quant(0.2, 3)));
  // 0, 1, -64.5, 0, 32.25 are 0, 5, -322.5, 0, 161.25 steps
  EXPECT_EQ(run_graph(b.graph(), {})[0], make_tensor<int8_t>(DType::kInt8, {1, 5}, {3, 8, -128, 3, 127}));
}

TEST(Concat, OfATensorWithItself) {
  GraphBuilder b(3);
  const TensorType type = b.int8_type({1, 3, 3, 5});
  const TensorId x = b.input(type);
  b.output(b.node(Concat{3}, {x, x}, type.quant));
  check_op(b.graph(), "concat_twice", 3);
}

// torch.cat([[[1, 2], [3, 4]], [[5], [6]]], -1)
TEST(Concat, IsWhatPyTorchComputes) {
  GraphBuilder b(1);
  const TensorId x = b.constant(make_tensor<float>(DType::kFloat32, {1, 2, 2}, {1, 2, 3, 4}));
  const TensorId y = b.constant(make_tensor<float>(DType::kFloat32, {1, 2, 1}, {5, 6}));
  b.output(b.node(Concat{2}, {x, y}));
  EXPECT_EQ(run_graph(b.graph(), {})[0], make_tensor<float>(DType::kFloat32, {1, 2, 3}, {1, 2, 5, 3, 4, 6}));
  check_op(b.graph(), "concat_literals", 1);
}

TEST(Concat, RefusesInputsThatDoNotMeet) {
  GraphBuilder b(1);
  const TensorId x = b.input(GraphBuilder::float_type({2, 3})), y = b.input(GraphBuilder::float_type({3, 3}));
  EXPECT_THROW(b.node(Concat{1}, {x, y}), UserError);
}

}  // namespace
}  // namespace rush
