// SPDX-License-Identifier: Apache-2.0
#include "ops/batch_norm/batch_norm_op.h"

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "tests/support/graph_builder.h"

namespace rush {
namespace {

TensorId pair(GraphBuilder& b, float first, float second) {
  return b.constant(make_tensor<float>(DType::kFloat32, {2}, {first, second}));
}

void expect_near(const HostTensor& got, const std::vector<float>& expected) {
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(got.as<float>()[i], expected[i]) << i;
}

// torch.nn.functional.batch_norm(x, mean, var, weight, bias, eps=1e-3)
TEST(BatchNorm, IsWhatPyTorchComputes) {
  GraphBuilder b(1);
  const TensorId x = b.constant(make_tensor<float>(DType::kFloat32, {1, 2, 2}, {1, 2, 3, 4}));
  const TensorId mean = pair(b, 0.5, -1), var = pair(b, 4, 0.25);
  b.output(b.node(BatchNorm{1e-3}, {x, pair(b, 2, 0.5), pair(b, 1, -1), mean, var}));
  b.output(b.node(BatchNorm{1e-3}, {x, TensorId{}, TensorId{}, mean, var}));
  const auto out = run_graph(b.graph(), {});
  expect_near(out[0], {0x1.7ffbe8p+0f, 0x1.3ff9dcp+1f, 0x1.7efaa6p+1f, 0x1.feb950p+1f});
  expect_near(out[1], {0x1.ffefa0p-3f, 0x1.7ff3b8p-1f, 0x1.fefaa6p+2f, 0x1.3f5ca8p+3f});
}

}  // namespace
}  // namespace rush
