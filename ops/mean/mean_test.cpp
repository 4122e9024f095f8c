// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/mean/mean.h"
#include "ops/mean/mean_op.h"
#include "ops/quantization.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;

/// With one scale on both sides, with two, and in float.
void check_mean(const std::string& name, const Shape& shape, const Mean& mean) {
  for (const int kind : {0, 1, 2}) {
    const uint64_t seed = 0x3ea + static_cast<uint64_t>(element_count(shape)) * 7 + static_cast<uint64_t>(kind);
    GraphBuilder b(seed);
    const TensorType type = kind == 2 ? GraphBuilder::float_type(shape) : b.int8_type(shape);
    const std::optional<Quant> out = kind == 1 ? std::optional(random_quant(b.random())) : type.quant;
    b.output(b.node(mean, {b.input(type)}, out));
    check_op(b.graph(), name + (kind == 2 ? "_f32" : "_s8"), seed);
  }
}

TEST(Mean, OverSpaceWithEveryTailOfChannels) {
  for (int64_t channels = 1; channels <= 17; ++channels) check_mean("mean_hw", {1, 3, 5, channels}, {{1, 2}, false});
  check_mean("mean_hw_31", {1, 8, 8, 31}, {{1, 2}, true});
  check_mean("mean_hw_257", {1, 2, 2, 257}, {{1, 2}, false});
}

TEST(Mean, OverSpaceOfMoreThan256Elements) {
  check_mean("mean_256", {1, 16, 16, 9}, {{1, 2}, false});
  check_mean("mean_625", {1, 25, 25, 5}, {{1, 2}, false});
}

TEST(Mean, OverTheLastAxisWithEveryTail) {
  for (int64_t count = 1; count <= 18; ++count) check_mean("mean_last", {3, count}, {{1}, true});
  check_mean("mean_last_long", {2, 777}, {{1}, false});
}

TEST(Mean, OverOtherAxes) {
  check_mean("mean_batch_hw", {3, 4, 5, 6}, {{1, 2}, false});
  check_mean("mean_all", {2, 3, 4, 5}, {{0, 1, 2, 3}, true});
  check_mean("mean_first", {7, 3, 5}, {{0}, false});
  check_mean("mean_0_2", {4, 3, 5, 6}, {{0, 2}, false});
  check_mean("mean_1_3", {4, 3, 5, 6}, {{1, 3}, true});
  check_mean("mean_1_3_ones", {1, 3, 5, 6}, {{1, 3}, false});
  check_mean("mean_none", {3, 4}, {{}, false});
}

TEST(Mean, RefusesThreeGroupsOfAxes) {
  const NodeInput x{stepping_codes({2, 2, 2, 2, 2, 2}, 3, 0), per_tensor(0.1, 0)};
  EXPECT_THAT(refusal_of(Mean{{0, 2, 4}, false}, {x}, per_tensor(0.1, 0)),
              HasSubstr("a mean over three or more separate groups of axes has no kernel"));
}

TEST(Mean, ExtentsRefuseWhatWouldReachOutsideOrNotEnd) {
  const MeanParams good = {
      .nest = {{{1, 1}, {3, 1}}, {{1, 1}, {4, 3}}}, .scale = {}, .offset = 0, .range = {-128, 127}};
  const auto change = [&](auto edit) {
    MeanParams params = good;
    edit(params);
    Extents extents{};
    return mean_s8_contract.extents(&params, &extents);
  };
  EXPECT_TRUE(change([](auto&) {}));
  EXPECT_FALSE(change([](auto& p) { p.nest.reduced[1].stride = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.nest.kept[0].count = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.nest.kept[0] = {0x10000, 0x10000}; }));
  EXPECT_FALSE(change([](auto& p) { p.nest.reduced[0] = {0xffffffff, 1}; }));
  EXPECT_FALSE(change([](auto& p) { p.nest.reduced[0] = {100, 1}; }));  // reads 1200 times what has 111 elements
}

// From here on the expected values are PyTorch's: dequantize, mean, quantize.
const NodeInput kX{stepping_codes({1, 5, 6, 2}, 37, 11), per_tensor(0.05, -9)};

TEST(Mean, IsWhatPyTorchComputes) {
  EXPECT_THAT(codes_of(evaluate_node(Mean{{1, 2}, false}, {kX}, kX.quant)), ElementsAre(0, 3));
  EXPECT_THAT(codes_of(evaluate_node(Mean{{1, 2}, false}, {kX}, per_tensor(0.013, 20))), ElementsAre(56, 67));
  // The last one is the tie 7.5, which PyTorch's float arithmetic misses and makes 7.
  EXPECT_THAT(codes_of(evaluate_node(Mean{{1, 3}, false}, {kX}, kX.quant)), ElementsAre(-4, -7, 16, 13, -15, 8));
}

TEST(Mean, RoundsTiesUp) {
  const HostTensor x = make_tensor<int8_t>(DType::kInt8, {4, 2}, {1, 2, -1, -2, 126, 127, -128, -127});
  for (const int64_t zero_point : {-128, 0, 3})
    EXPECT_THAT(codes_of(evaluate_node(Mean{{1}, false}, {{x, per_tensor(1, zero_point)}}, per_tensor(1, zero_point))),
                ElementsAre(2, -1, 127, -127));
}

TEST(Mean, OfFloatsIsWhatPyTorchComputes) {
  HostTensor x(DType::kFloat32, {1, 5, 6, 2});
  for (int64_t i = 0; i < x.size(); ++i) x.as<float>()[i] = dequantize_code(kX.data.as<int8_t>()[i], *kX.quant);
  EXPECT_THAT(floats_of(evaluate_node(Mean{{1, 2}, false}, {{x}})),
              ElementsAre(FloatNear(0.463333338f, 1e-6f), FloatNear(0.606666684f, 1e-6f)));
}

}  // namespace
}  // namespace rush
