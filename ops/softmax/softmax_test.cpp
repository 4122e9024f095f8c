// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ops/quantization.h"
#include "ops/softmax/exponential.h"
#include "ops/softmax/softmax_op.h"
#include "ops/softmax/softmax_ref.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
using testing::Pointwise;

const Quant kProbability = per_tensor(1.0 / 256, -128);

void check_softmax(const std::string& name, const Shape& shape, int64_t axis, std::optional<Quant> out = kProbability) {
  for (const bool quantized : {true, false}) {
    const uint64_t seed = 0x50f + static_cast<uint64_t>(element_count(shape)) * 3 + static_cast<uint64_t>(axis);
    GraphBuilder b(seed);
    const TensorType type = quantized ? b.int8_type(shape) : GraphBuilder::float_type(shape);
    b.output(b.node(Softmax{axis}, {b.input(type)}, quantized ? out : std::nullopt));
    check_op(b.graph(), name + (quantized ? "_s8" : "_f32"), seed);
  }
}

TEST(Softmax, EveryTailOfAVector) {
  for (int64_t count = 1; count <= 33; ++count) check_softmax("softmax_tail", {2, count}, 1);
  check_softmax("softmax_257", {2, 257}, 1);
  check_softmax("softmax_1024", {2, 1024}, 1);
}

TEST(Softmax, EveryAxis) {
  for (int64_t axis = 0; axis < 4; ++axis) {
    check_softmax("softmax_axis", {2, 3, 4, 5}, axis);
    check_softmax("softmax_map", {1, 6, 4, 5}, axis);
  }
  check_softmax("softmax_vector", {10}, 0);
}

TEST(Softmax, OutputScales) {
  for (const double scale : {1.0, 0.25, 1.0 / 255, 0.0007, 1e-6, 100.0})
    check_softmax("softmax_scale", {3, 21}, 1, per_tensor(scale, -5));
  EXPECT_THAT(refusal_of(Softmax{1}, {{stepping_codes({1, 4}, 3, 0), per_tensor(0.1, 0)}}, per_tensor(1e-9, 0)),
              HasSubstr("softmax with an output scale below 2^-27 has no kernel"));
}

TEST(Softmax, OneClassIsCertain) {
  HostTensor x(DType::kInt8, {256, 1});
  for (int i = 0; i < 256; ++i) x.as<int8_t>()[i] = static_cast<int8_t>(i - 128);
  EXPECT_THAT(codes_of(evaluate_node(Softmax{1}, {{x, per_tensor(0.1, 3)}}, kProbability)), Each(127));
}

/// Softmax in double, quantized half to even: an independent definition.
std::vector<double> real_codes(const HostTensor& x, const Quant& in, const Quant& out) {
  std::vector<double> values;
  double sum = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    values.push_back(std::exp(static_cast<double>(x.as<int8_t>()[i] - 127) * in.scale[0]));
    sum += values.back();
  }
  for (double& value : values)
    value =
        std::clamp(std::nearbyint(value / sum / out.scale[0]) + static_cast<double>(out.zero_point[0]), -128.0, 127.0);
  return values;
}

TEST(Softmax, IsNeverMoreThanOneStepFromTheRealFunction) {
  Random random(9);
  int different = 0, total = 0;
  for (int i = 0; i < 400; ++i) {
    const int64_t count = random.pick(std::vector<int64_t>{1, 2, 3, 10, 100, 1024, 4000});
    const Quant in = per_tensor(std::exp2(random.real(-9, 1)), 0);
    const Quant out = random.chance(0.5) ? kProbability : per_tensor(std::exp2(random.real(-14, -6)), -128);
    const HostTensor x =
        random_tensor(random, {DType::kInt8, {1, count}, in}, random.chance(0.2) ? Fill::kExtremes : Fill::kUniform);
    const HostTensor y = evaluate_node(Softmax{1}, {{x, in}}, out);
    const std::vector<double> expected = real_codes(x, in, out);
    for (int64_t k = 0; k < count; ++k) {
      const double distance = std::abs(y.as<int8_t>()[k] - expected[static_cast<size_t>(k)]);
      ASSERT_LE(distance, 1) << "element " << k << " of " << count << ", scales " << in.scale[0] << ", "
                             << out.scale[0];
      different += distance != 0;
      ++total;
    }
  }
  EXPECT_LT(different, total / 10000);
}

TEST(Softmax, TableIsTheExponential) {
  for (const double scale : {1e-6, 0.003, 0.1, 1.0, 80.0}) {
    const SoftmaxTable table = softmax_table(scale);
    for (int i = 0; i < 16; ++i) {
      EXPECT_NEAR(table.coarse[i], -std::exp(-16 * i * scale) * std::exp2(31), 0.5000001) << i << ", " << scale;
      EXPECT_NEAR(table.fine[i], -std::exp(-i * scale) * std::exp2(31), 0.5000001) << i << ", " << scale;
    }
    EXPECT_EQ(softmax_exponential(table, 0), 1 << 30);
    for (int d = 0; d < 256; ++d)
      EXPECT_NEAR(softmax_exponential(table, d), std::exp(-d * scale) * std::exp2(30), 1.5) << d << ", " << scale;
  }
}

// Damaged images: a code above the maximum, of overlapping maps.
TEST(Softmax, ADistanceFromNowhereStaysInTheTable) {
  const SoftmaxTable table = softmax_table(0.1);
  for (const int d : {-1, -256, 256, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(softmax_exponential(table, d), softmax_exponential(table, d & 0xff)) << d;
  }
}

TEST(Softmax, ReciprocalIsTheQuotientRoundedDown) {
  Random random(10);
  for (int i = 0; i < 3000; ++i) {
    const auto divisor = static_cast<uint32_t>(random.integer(1 << 30, INT32_MAX));
    EXPECT_EQ(reciprocal_of(divisor), (int64_t(1) << 61) / divisor);
  }
  EXPECT_EQ(reciprocal_of(1u << 30), INT32_MAX);
  EXPECT_EQ(reciprocal_of(INT32_MAX), 1 << 30);
}

TEST(Softmax, FloatExponentialIsWithinItsBound) {
  for (float x = -86.99f; x <= 0; x += 0.00137f) {
    const double expected = std::exp(static_cast<double>(x));
    ASSERT_NEAR(exponential(x) / expected, 1, 2e-7) << x;
  }
  EXPECT_EQ(exponential(0), 1);
  EXPECT_EQ(exponential(-100), 0);
  EXPECT_EQ(exponential(-INFINITY), 0);
  EXPECT_TRUE(std::isnan(exponential(NAN)));
}

TEST(Softmax, ExtentsRefuseWhatWouldReachOutside) {
  const SoftmaxParams good = {
      .walk = {.in = {12, 2, 0}, .out = {12, 2, 0}, .rows = 2, .reserved = 0, .outer = 2, .count = 3, .inner = 2},
      .multiplier = 1 << 30,
      .shift = 19,
      .zero_point = 0,
      .range = {-128, 127}};
  const auto change = [&](auto edit, const KernelContract& contract = softmax_s8_contract) {
    SoftmaxParams params = good;
    edit(params);
    Extents extents{};
    return contract.extents(&params, &extents);
  };
  EXPECT_TRUE(change([](auto&) {}));
  EXPECT_FALSE(change([](auto& p) { p.walk.inner = 0x80000001; }));
  EXPECT_FALSE(change([](auto& p) { p.walk.outer = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.walk.rows = 3; }));
  EXPECT_FALSE(change([](auto& p) { p.walk.out.row_bytes = 11; }));
  EXPECT_FALSE(change([](auto& p) { p.shift = 0; }));
  EXPECT_FALSE(change([](auto& p) { p.shift = 32; }));
  EXPECT_FALSE(change([](auto&) {}, softmax_dense_s8_contract));
  EXPECT_TRUE(change([](auto& p) { p.walk.inner = 1; }, softmax_dense_s8_contract));
}

TEST(Softmax, SteepInputScales) {
  for (const double scale : {80.0, 2.0, 0.5, 0.1}) {
    for (const int64_t axis : {0, 1}) {
      GraphBuilder b(0x5a);
      b.output(b.node(Softmax{axis}, {b.input({DType::kInt8, {5, 37}, per_tensor(scale, 0)})}, kProbability));
      check_op(b.graph(), "softmax_steep", 0x5a);
    }
  }
}

// From here on the expected values are PyTorch's: dequantize, softmax, quantize.
const NodeInput kX{stepping_codes({3, 10}, 53, 7), per_tensor(0.04, 11)};

TEST(Softmax, IsWhatPyTorchComputes) {
  EXPECT_THAT(codes_of(evaluate_node(Softmax{1}, {kX}, kProbability)),
              ElementsAre(-128, -128, -127, -117, -35, -128, -128, -126, -112, 5, -128, -128, -127, -117, -35, -128,
                          -128, -126, -112, 5, -128, -128, -125, -105, 64, -128, -128, -124, -95, -128));
  EXPECT_THAT(codes_of(evaluate_node(Softmax{0}, {kX}, kProbability)),
              ElementsAre(-93, -93, -93, -93, -93, -93, -93, -93, -93, -44, -56, -56, -56, -56, -56, -56, -56, -56, -56,
                          44, 21, 21, 21, 21, 21, 21, 21, 21, 21, -128));
  EXPECT_THAT(codes_of(evaluate_node(Softmax{1}, {{kX.data, per_tensor(0.003, 11)}}, per_tensor(0.0007, -100))),
              ElementsAre(0, 17, 37, 61, 89, 3, 20, 41, 66, 94, 0, 17, 37, 61, 89, 3, 20, 41, 66, 94, 8, 26, 48, 74,
                          104, 11, 30, 52, 79, -3));
}

TEST(Softmax, OfFloatsIsWhatPyTorchComputes) {
  HostTensor x(DType::kFloat32, {1, 10});
  for (int64_t i = 0; i < 10; ++i) x.as<float>()[i] = dequantize_code(kX.data.as<int8_t>()[i], *kX.quant);
  const std::vector<float> expected = {7.50688414e-05f, 0.000625409128f, 0.00521036889f, 0.0434082896f, 0.361640394f,
                                       0.00010759844f,  0.000896417361f, 0.00746817514f, 0.0622183867f, 0.518349886f};
  EXPECT_THAT(floats_of(evaluate_node(Softmax{1}, {{x}})), Pointwise(FloatNear(1e-7f), expected));
}

}  // namespace
}  // namespace rush
