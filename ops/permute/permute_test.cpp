// SPDX-License-Identifier: Apache-2.0
#include "ops/permute/permute_op.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "compiler/lower/lower.h"
#include "ops/op_def.h"
#include "ops/permute/permute.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

Graph permute_graph(GraphBuilder& b, const TensorType& type, const std::vector<int64_t>& axes) {
  b.output(b.node(Permute{axes}, {b.input(type)}, type.quant));
  return b.graph();
}

void check_permute(const std::string& name, const Shape& shape, const std::vector<int64_t>& axes) {
  for (const bool quantized : {true, false}) {
    const uint64_t seed = 0x9e40;
    GraphBuilder b(seed);
    const TensorType type = quantized ? b.int8_type(shape) : GraphBuilder::float_type(shape);
    check_op(permute_graph(b, type, axes), name + (quantized ? "_8" : "_32"), seed);
  }
}

TEST(Permute, MapsToAndFromChannelsLast) {
  check_permute("permute_nchw_nhwc", {1, 5, 6, 7}, {0, 2, 3, 1});
  check_permute("permute_nhwc_nchw", {2, 6, 7, 5}, {0, 3, 1, 2});
}

TEST(Permute, PlanesOfEveryBlockTail) {
  for (const int64_t rows : {1, 3, 4, 9})
    for (const int64_t columns : {2, 4, 7, 17}) check_permute("permute_plane", {rows, columns}, {1, 0});
}

TEST(Permute, KeepsTheInnermostAxis) { check_permute("permute_rows", {3, 5, 18}, {1, 0, 2}); }
TEST(Permute, ReversesSixAxes) { check_permute("permute_six", {2, 3, 2, 3, 2, 3}, {5, 4, 3, 2, 1, 0}); }
TEST(Permute, RowsFurtherApartThanA16BitOffsetReaches) { check_permute("permute_far", {9, 9400}, {1, 0}); }

TEST(Permute, AllOrdersOfFourAxes) {
  std::vector<int64_t> axes = {0, 1, 2, 3};
  do {
    check_permute("permute_four", {2, 3, 4, 5}, axes);
  } while (std::ranges::next_permutation(axes).found);
}

// torch.arange(6).reshape(1, 2, 3).permute(2, 0, 1)
TEST(Permute, IsWhatPyTorchComputes) {
  GraphBuilder b(1);
  const Graph graph = permute_graph(b, GraphBuilder::float_type({1, 2, 3}), {2, 0, 1});
  const auto out = run_graph(graph, {make_tensor<float>(DType::kFloat32, {1, 2, 3}, {0, 1, 2, 3, 4, 5})});
  EXPECT_EQ(out[0], make_tensor<float>(DType::kFloat32, {3, 1, 2}, {0, 3, 1, 4, 2, 5}));
}

TEST(Permute, CostsNothingWhereOnlyAxesOfSizeOneMove) {
  GraphBuilder b(1);
  const TensorType type = b.int8_type({1, 4, 1, 3});
  const TensorId x = b.node(Permute{{0, 2, 1, 3}}, {b.input(type)}, type.quant);
  b.output(b.node(Permute{{0, 3, 2, 1}}, {x}, type.quant));
  EXPECT_EQ(lower_graph(b.graph(), Isa::kScalar, "test").steps.size(), 1u);
}

TEST(Permute, ExtentsCountTheLastElement) {
  PermuteParams p = {{1, 1, 1, 2, 3, 4}, {0, 0, 0, 1, 100, 10}};
  Extents extents = {};
  ASSERT_TRUE(permute_32_contract.extents(&p, &extents));
  EXPECT_EQ(extents.bytes[0], 4u * (1 + 1 + 200 + 30));
  EXPECT_EQ(extents.bytes[1], 4u * 24);
  p.stride[4] = 0x40000000;
  ASSERT_TRUE(permute_32_contract.extents(&p, &extents));
  EXPECT_EQ(extents.bytes[0], 0xffffffffu) << "saturates, so that no region is large enough";
  p.shape[2] = 0;
  EXPECT_FALSE(permute_32_contract.extents(&p, &extents));
}

}  // namespace
}  // namespace rush
