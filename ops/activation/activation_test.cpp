// SPDX-License-Identifier: Apache-2.0
#include "ops/activation/activation_op.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Known {
  Activation activation;
  std::vector<float> values;  ///< at kPoints
};

const std::vector<float> kPoints = {-21, -4, -2.5, -1, -0.25, 0, 0.5, 1.5, 3.5, 25};

// PyTorch's float32 results.
const std::vector<Known> kKnown = {
    {{.function = "elu", .alpha = 0.7, .scale = 1.2, .input_scale = 1.5},
     {-0.840000033f, -0.837917864f, -0.820245147f, -0.652570665f, -0.262677014f, 0, 0.600000024f, 1.80000007f,
      4.20000029f, 30.0000019f}},
    {{.function = "gelu"},
     {0, -0.000126481056f, -0.0155241787f, -0.158655256f, -0.100323416f, 0, 0.345731229f, 1.39978909f, 3.49918556f,
      25}},
    {{.function = "gelu_tanh"},
     {0, -7.02142715e-05f, -0.0150842965f, -0.158807993f, -0.100324646f, 0, 0.345714003f, 1.39957154f, 3.49938369f,
      25}},
    {{.function = "hardsigmoid"}, {0, 0, 0.0833333358f, 0.333333343f, 0.458333343f, 0.5f, 0.583333313f, 0.75f, 1, 1}},
    {{.function = "hardswish"}, {0, 0, -0.208333328f, -0.333333343f, -0.114583336f, 0, 0.291666657f, 1.125f, 3.5f, 25}},
    {{.function = "leaky_relu", .alpha = 0.1}, {-2.1f, -0.4f, -0.25f, -0.1f, -0.025f, 0, 0.5f, 1.5f, 3.5f, 25}},
    {{.function = "log_sigmoid"},
     {-21, -4.01814985f, -2.57888985f, -1.31326175f, -0.825939417f, -0.693147182f, -0.474076986f, -0.201413289f,
      -0.0297504179f, -1.38879437e-11f}},
    {{.function = "mish"},
     {-1.59233782e-08f, -0.0725917518f, -0.196816191f, -0.30340144f, -0.129926965f, 0, 0.375245243f, 1.40337825f,
      3.4939909f, 25}},
    {{.function = "sigmoid"},
     {7.58256014e-10f, 0.0179862101f, 0.0758581758f, 0.268941432f, 0.437823504f, 0.5f, 0.622459352f, 0.817574441f,
      0.970687747f, 1}},
    {{.function = "silu"},
     {-1.59233764e-08f, -0.0719448403f, -0.189645454f, -0.268941432f, -0.109455876f, 0, 0.311229676f, 1.22636163f,
      3.39740729f, 25}},
    {{.function = "softplus", .input_scale = 2, .threshold = 3},
     {0, 0.000167703183f, 0.00335767423f, 0.0634640008f, 0.237038493f, 0.346573591f, 0.656630814f, 1.52429366f, 3.5f,
      25}},
    {{.function = "tanh"},
     {-1, -0.999329329f, -0.986614287f, -0.761594176f, -0.244918659f, 0, 0.462117165f, 0.905148268f, 0.998177886f, 1}},
};

TEST(Activation, IsWhatPyTorchComputes) {
  const HostTensor x = make_tensor<float>(DType::kFloat32, {10}, kPoints);
  for (const Known& known : kKnown) {
    const HostTensor y = evaluate_node(known.activation, {{x}});
    for (size_t i = 0; i < kPoints.size(); ++i)
      EXPECT_NEAR(y.as<float>()[i], known.values[i], 1e-6f * std::abs(known.values[i]) + 1e-7f * std::abs(kPoints[i]))
          << known.activation.function << " of " << kPoints[i];
  }
}

// The expected values are PyTorch's: dequantize (0.05, -9), the function, quantize.
TEST(Activation, OfCodesIsWhatPyTorchComputes) {
  const HostTensor x =
      make_tensor<int8_t>(DType::kInt8, {16}, {-128, -127, -100, -65, -33, -10, -1, 0, 1, 2, 17, 50, 77, 99, 126, 127});
  const NodeInput in{x, per_tensor(0.05, -9)};
  EXPECT_THAT(codes_of(evaluate_node(Activation{.function = "hardswish"}, {in}, per_tensor(0.0271, -114))),
              ElementsAre(-114, -114, -114, -117, -127, -115, -106, -104, -103, -102, -80, -6, 45, 85, 127, 127));
  EXPECT_THAT(codes_of(evaluate_node(Activation{.function = "sigmoid"}, {in}, per_tensor(1.0 / 256, -128))),
              ElementsAre(-127, -127, -125, -113, -69, -3, 25, 28, 31, 34, 73, 115, 125, 127, 127, 127));
  EXPECT_THAT(codes_of(evaluate_node(Activation{.function = "tanh"}, {in}, per_tensor(1.0 / 128, 0))),
              ElementsAre(-128, -128, -128, -127, -107, -6, 49, 54, 59, 64, 110, 127, 127, 127, 127, 127));
  EXPECT_THAT(codes_of(evaluate_node(Activation{.function = "gelu"}, {in}, per_tensor(0.0371, -120))),
              ElementsAre(-120, -120, -120, -120, -124, -121, -113, -112, -111, -109, -88, -41, -4, 26, 62, 63));
}

TEST(Activation, EveryFunctionOnEveryCore) {
  for (const Known& known : kKnown) {
    for (const Shape& shape : {Shape{1, 5, 3, 7}, Shape{2, 33}}) {
      GraphBuilder b(0xac7);
      const TensorId x = b.input(b.int8_type(shape));
      b.output(b.node(known.activation, {x}, random_quant(b.random())));
      check_op(b.graph(), "activation_" + known.activation.function, 0xac7);
    }
  }
}

// tanh of codes (0.05, 0), clamped to -0.5..0.75 on an output of 1/128: codes -64 and 96.
TEST(Activation, TakesAClampBehindIt) {
  const HostTensor x = make_tensor<int8_t>(DType::kInt8, {4}, {-128, -1, 1, 127});
  const Activation clamped{.function = "tanh", .min = -0.5, .max = 0.75};
  EXPECT_THAT(codes_of(evaluate_node(clamped, {{x, per_tensor(0.05, 0)}}, per_tensor(1.0 / 128, 0))),
              ElementsAre(-64, -6, 6, 96));
}

TEST(Activation, NaNStaysNaN) {
  const HostTensor x = make_tensor<float>(DType::kFloat32, {1}, {std::nanf("")});
  for (const Known& known : kKnown)
    EXPECT_TRUE(std::isnan(evaluate_node(known.activation, {{x}}).as<float>()[0])) << known.activation.function;
}

TEST(Activation, RefusesFloatsAndNamesTheFunction) {
  const NodeInput x{make_tensor<float>(DType::kFloat32, {2}, {1, 2})};
  EXPECT_THAT(refusal_of(Activation{.function = "mish"}, {x}, {}), HasSubstr("mish of float32 [2] has no kernel"));
}

}  // namespace
}  // namespace rush
