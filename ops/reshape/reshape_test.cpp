// SPDX-License-Identifier: Apache-2.0
#include "ops/reshape/reshape_op.h"

#include <gtest/gtest.h>

#include "compiler/lower/lower.h"
#include "ops/clamp/clamp_op.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

TEST(Reshape, IsAViewBetweenSteps) {
  GraphBuilder b(1);
  const TensorType type = b.int8_type({1, 3, 4, 5});
  const TensorId x = b.node(Clamp{.min = 0}, {b.input(type)}, type.quant);
  const TensorId flat = b.node(Reshape{{60}}, {x}, type.quant);
  b.output(b.node(Clamp{.max = 1}, {b.node(Reshape{{6, 10}}, {flat}, type.quant)}, type.quant));
  EXPECT_EQ(lower_graph(b.graph(), Isa::kScalar, "test").steps.size(), 2u);
  check_op(b.graph(), "reshape_inside", 1);
}

TEST(Reshape, OfAnInputIsACopyWhereItIsAnOutput) {
  GraphBuilder b(2);
  b.output(b.node(Reshape{{2, 9}}, {b.input(GraphBuilder::float_type({1, 3, 6}))}));
  EXPECT_EQ(lower_graph(b.graph(), Isa::kScalar, "test").steps.size(), 1u);
  check_op(b.graph(), "reshape_of_input", 2);
}

TEST(Reshape, RefusesAnotherElementCount) {
  GraphBuilder b(3);
  const TensorId x = b.input(GraphBuilder::float_type({2, 3}));
  EXPECT_THROW(b.node(Reshape{{2, 4}}, {x}), UserError);
}

}  // namespace
}  // namespace rush
