// SPDX-License-Identifier: Apache-2.0
#include "ops/identity/identity_op.h"

#include <gtest/gtest.h>

#include "compiler/lower/lower.h"
#include "ops/identity/copy.h"
#include "ops/identity/copy_step.h"
#include "ops/op_def.h"
#include "ops/reshape/reshape_op.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

size_t step_count(const Graph& graph) { return lower_graph(graph, Isa::kScalar, "test").steps.size(); }

TEST(Identity, OfAnInputIsACopyWhereItIsAnOutput) {
  for (const int64_t count : {1, 15, 16, 67}) {
    GraphBuilder b(static_cast<uint64_t>(count));
    const TensorType type = b.int8_type({count});
    const TensorId x = b.input(type);
    b.output(b.node(Identity{}, {b.node(Identity{}, {x}, type.quant)}, type.quant));
    EXPECT_EQ(step_count(b.graph()), 1u);
    check_op(b.graph(), "identity_of_input", static_cast<uint64_t>(count));
  }
}

TEST(Identity, OfAConstantIsACopyWhereItIsAnOutput) {
  GraphBuilder b(2);
  b.output(b.node(Identity{}, {b.constant(GraphBuilder::float_type({5}))}));
  EXPECT_EQ(step_count(b.graph()), 1u);
  check_op(b.graph(), "identity_of_constant", 2);
}

TEST(Identity, CostsNothingInside) {
  GraphBuilder b(3);
  const TensorType type = b.int8_type({1, 3, 4, 5});
  const TensorId copied = b.node(Identity{}, {b.input(type)}, type.quant);
  b.output(b.node(Reshape{{60}}, {b.node(Identity{}, {copied}, type.quant)}, type.quant));
  EXPECT_EQ(step_count(b.graph()), 1u) << "the copy that makes an output of an input";
  check_op(b.graph(), "identity_inside", 3);
}

TEST(Copy, StridedRowsInBands) {
  const ProgramStep step = copy_step({}, {},
                                     {.rows = 3,
                                      .segments = 2,
                                      .segment_bytes = 3,
                                      .in_pitch = 4,
                                      .out_pitch = 5,
                                      .in_row_bytes = 8,
                                      .out_row_bytes = 10});
  std::vector<uint8_t> in(23), out(28, 0xee);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i);
  Extents extents = {};
  ASSERT_TRUE(step.family->host->contract->extents(step.params.data(), &extents));
  EXPECT_EQ(extents.bytes[0], in.size());
  EXPECT_EQ(extents.bytes[1], out.size());
  void* const operands[] = {in.data(), out.data()};
  step.family->host->run(step.params.data(), operands, {1, 3});
  step.family->host->run(step.params.data(), operands, {0, 1});
  const uint8_t gap = 0xee;
  EXPECT_EQ(out, (std::vector<uint8_t>{0,   1,  2,  gap, gap, 4,   5,  6,  gap, gap, 8,   9,  10, gap,
                                       gap, 12, 13, 14,  gap, gap, 16, 17, 18,  gap, gap, 20, 21, 22}));
}

TEST(Copy, ExtentsRefuseWhatWouldTouchOtherMemory) {
  const CopyParams good = {.in = {8, 3, 0},
                           .out = {10, 3, 0},
                           .rows = 3,
                           .reserved = 0,
                           .segments = 2,
                           .segment_bytes = 3,
                           .in_pitch = 4,
                           .out_pitch = 5};
  const auto accepts = [](const CopyParams& params) {
    Extents extents = {};
    return copy_contract.extents(&params, &extents);
  };
  EXPECT_TRUE(accepts(good));
  CopyParams bad = good;
  bad.segments = 3;
  EXPECT_FALSE(accepts(bad)) << "segments beyond a row";
  bad = good;
  bad.out_pitch = 2;
  EXPECT_FALSE(accepts(bad)) << "segments that overlap";
  bad = good;
  bad.segments = 0x80000001;
  bad.in_pitch = bad.out_pitch = 0x80000000;
  EXPECT_FALSE(accepts(bad)) << "a row whose length wraps around";
  bad = good;
  bad.segment_bytes = 0;
  EXPECT_FALSE(accepts(bad)) << "nothing to copy";
}

}  // namespace
}  // namespace rush
