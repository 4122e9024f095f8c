// SPDX-License-Identifier: Apache-2.0
#include "ops/cast/cast_op.h"

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "tests/support/graph_builder.h"

namespace rush {
namespace {

HostTensor cast(HostTensor data, DType to) {
  GraphBuilder b(1);
  b.output(b.node(Cast{std::string(dtype_name(to))}, {b.constant(std::move(data))}));
  return run_graph(b.graph(), {})[0];
}

// What torch.Tensor.to() makes of the same values.
TEST(Cast, IsWhatPyTorchComputes) {
  const HostTensor floats = make_tensor<float>(DType::kFloat32, {4}, {1.9f, -1.9f, 300.25f, 0});
  EXPECT_EQ(cast(floats, DType::kInt32), make_tensor<int32_t>(DType::kInt32, {4}, {1, -1, 300, 0}));
  EXPECT_EQ(cast(floats, DType::kBool), make_tensor<uint8_t>(DType::kBool, {4}, {1, 1, 1, 0}));
  EXPECT_EQ(cast(make_tensor<float>(DType::kFloat32, {2}, {1.5, -7.25}), DType::kFloat64),
            make_tensor<double>(DType::kFloat64, {2}, {1.5, -7.25}));
  EXPECT_EQ(cast(make_tensor<int32_t>(DType::kInt32, {1}, {16777217}), DType::kFloat32),
            make_tensor<float>(DType::kFloat32, {1}, {16777216}));
}

TEST(Cast, RefusesAnUnknownType) {
  GraphBuilder b(1);
  EXPECT_THROW(b.node(Cast{"float99"}, {b.input(GraphBuilder::float_type({1}))}), UserError);
}

}  // namespace
}  // namespace rush
