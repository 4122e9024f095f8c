// SPDX-License-Identifier: Apache-2.0
#include "ops/dequantize/dequantize_op.h"

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "compiler/lower/lower.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

// torch.ops.quantized_decomposed.dequantize_per_tensor(codes, 0.0235294122248888, -5, -128, 127, torch.int8)
TEST(Dequantize, IsWhatPyTorchComputes) {
  GraphBuilder b(1);
  const Quant quant = {.scale = {0.0235294122248888}, .zero_point = {-5}, .axis = -1, .min = -128, .max = 127};
  b.output(b.node(Dequantize{}, {b.constant(make_tensor<int8_t>(DType::kInt8, {5}, {-128, -5, 0, 1, 127}), quant)}));
  EXPECT_EQ(run_graph(b.graph(), {})[0],
            make_tensor<float>(DType::kFloat32, {5},
                               {-0x1.727272p+1f, 0.0f, 0x1.e1e1e2p-4f, 0x1.212122p-3f, 0x1.8d8d8ep+1f}));
  check_op(b.graph(), "dequantize_literals", 1);
}

// torch.ops.quantized_decomposed.dequantize_per_channel(codes, [0.5, 0.1], [0, 2], 1, -128, 127, torch.int8)
TEST(Dequantize, PerChannel) {
  GraphBuilder b(1);
  const Quant quant = {.scale = {0.5, 0.1}, .zero_point = {0, 2}, .axis = 1, .min = -128, .max = 127};
  b.output(b.node(Dequantize{}, {b.constant(make_tensor<int8_t>(DType::kInt8, {2, 2}, {10, -20, 5, 7}), quant)}));
  EXPECT_EQ(run_graph(b.graph(), {})[0],
            make_tensor<float>(DType::kFloat32, {2, 2}, {5.0f, -0x1.19999ap+1f, 2.5f, 0.5f}));
}

TEST(Dequantize, VectorsAndMapsOfEveryTail) {
  for (const Shape& shape : {Shape{1}, Shape{6}, Shape{2, 21}, Shape{1, 5, 3, 3}, Shape{1, 4, 4, 4}}) {
    const uint64_t seed = 0xde00 + static_cast<uint64_t>(element_count(shape));
    GraphBuilder b(seed);
    b.output(b.node(Dequantize{}, {b.input(b.int8_type(shape))}));
    check_op(b.graph(), "dequantize", seed);
  }
}

TEST(Dequantize, RefusesScalesThatOverflow) {
  GraphBuilder b(1);
  TensorType type = b.int8_type({4});
  type.quant->scale = {1e37};
  b.output(b.node(Dequantize{}, {b.input(type)}));
  EXPECT_THROW(lower_graph(b.graph(), Isa::kScalar, "test"), UserError);
}

}  // namespace
}  // namespace rush
