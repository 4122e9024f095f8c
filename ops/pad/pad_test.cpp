// SPDX-License-Identifier: Apache-2.0
#include "ops/pad/pad_op.h"

#include <gtest/gtest.h>

#include "compiler/execute/execute.h"
#include "ops/pad/pad.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

void check_pad(const std::string& name, const Shape& shape, const Pad& pad) {
  for (const bool quantized : {true, false}) {
    const uint64_t seed = 0x9ad0 + static_cast<uint64_t>(shape.size());
    GraphBuilder b(seed);
    const TensorType type = quantized ? b.int8_type(shape) : GraphBuilder::float_type(shape);
    b.output(b.node(pad, {b.input(type)}, type.quant));
    check_op(b.graph(), name + (quantized ? "_s8" : "_f32"), seed);
  }
}

TEST(Pad, BordersOfAMap) { check_pad("pad_map", {1, 5, 7, 3}, {{0, 0, 1, 2, 3, 1, 0, 0}, 0}); }
TEST(Pad, WideRowsWithVectorTails) { check_pad("pad_wide", {1, 3, 9, 19}, {{0, 0, 0, 1, 1, 0, 0, 0}, -0.7}); }
TEST(Pad, OnlyRows) { check_pad("pad_rows", {1, 4, 5, 4}, {{0, 0, 2, 1, 0, 0, 0, 0}, 1.5}); }
TEST(Pad, Channels) { check_pad("pad_channels", {1, 4, 3, 5}, {{0, 0, 0, 0, 0, 0, 2, 9}, 0.25}); }
TEST(Pad, EveryAxisOfABatch) { check_pad("pad_all", {2, 3, 4, 5}, {{1, 2, 2, 0, 1, 1, 3, 2}, 2}); }
TEST(Pad, CutsOffWhereAmountsAreNegative) { check_pad("pad_cut", {1, 6, 7, 5}, {{0, 0, -1, -2, -2, 1, -1, 2}, 0}); }
TEST(Pad, CutsOffEverythingOfAnAxisButTheFill) { check_pad("pad_gone", {1, 2, 3, 4}, {{0, 0, -2, 5, 0, 0, 0, 0}, 1}); }
TEST(Pad, Vectors) { check_pad("pad_vector", {33}, {{3, 4}, -1}); }
TEST(Pad, SixAxes) { check_pad("pad_six", {2, 1, 3, 2, 2, 3}, {{1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 2, 1}, 3}); }
TEST(Pad, NothingToDo) { check_pad("pad_nothing", {1, 3, 2, 4}, {{0, 0, 0, 0, 0, 0, 0, 0}, 3}); }

// torch.nn.functional.pad(torch.arange(6.).reshape(2, 3), (1, -1, 1, 0), value=9)
TEST(Pad, IsWhatPyTorchComputes) {
  GraphBuilder b(1);
  const TensorId x = b.input(GraphBuilder::float_type({2, 3}));
  b.output(b.node(Pad{{1, 0, 1, -1}, 9}, {x}));
  const auto out = run_graph(b.graph(), {make_tensor<float>(DType::kFloat32, {2, 3}, {0, 1, 2, 3, 4, 5})});
  EXPECT_EQ(out[0], make_tensor<float>(DType::kFloat32, {3, 3}, {9, 9, 9, 9, 0, 1, 9, 3, 4}));
}

PadParams small_params() {
  return {.in = {4, 2, 0},
          .out = {8, 4, 0},
          .in_rows = 2,
          .rows = 4,
          .top = 1,
          .reserved = 0,
          .segments = 1,
          .elements = 4,
          .in_pitch = 4,
          .before = 0,
          .after = 0,
          .left = 2,
          .right = 2,
          .value = 0};
}

bool accepts(const PadParams& params) {
  Extents extents = {};
  return pad_s8_contract.extents(&params, &extents);
}

TEST(Pad, ExtentsRefuseWhatWouldTouchOtherMemory) {
  EXPECT_TRUE(accepts(small_params()));
  PadParams p = small_params();
  p.right = 3;
  EXPECT_FALSE(accepts(p)) << "a row longer than its bytes";
  p = small_params();
  p.left = 0xfffffffc;
  EXPECT_FALSE(accepts(p)) << "a row whose length wraps around";
  p = small_params();
  p.segments = 0;
  EXPECT_FALSE(accepts(p)) << "no segments";
  p = small_params();
  p.elements = 5;
  EXPECT_FALSE(accepts(p)) << "segments that overlap";
  p = small_params();
  p.in_rows = 3;
  EXPECT_FALSE(accepts(p)) << "more input rows than there are";
}

}  // namespace
}  // namespace rush
