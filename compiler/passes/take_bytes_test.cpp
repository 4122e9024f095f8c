// SPDX-License-Identifier: Apache-2.0
//
// Bytes as the input, against the formula of normalization and PyTorch's definition of quantize.
#include "compiler/passes/take_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compiler/passes/pass_list.h"
#include "compiler/run/run.h"
#include "ops/quantization.h"
#include "tests/support/random.h"

namespace rush {
namespace {

const ByteInput kImageNet = {.mean = {0.485, 0.456, 0.406}, .std = {0.229, 0.224, 0.225}};
constexpr double kScale = 0.0186, kZeroPoint = -14;

Graph after_passes(Graph graph) {
  for (const Pass& pass : kPasses) {
    graph = pass.run(std::move(graph));
    verify(graph);
  }
  return graph;
}

HostTensor random_bytes(const Shape& shape) {
  Random random(7);
  HostTensor bytes(DType::kUInt8, shape);
  for (size_t i = 0; i < bytes.bytes(); ++i) bytes.raw()[i] = static_cast<uint8_t>(random.integer(0, 255));
  return bytes;
}

HostTensor codes_of(const Graph& graph, const HostTensor& bytes) {
  const Runner runner = graph_runner(graph);
  return stack_outputs(runner.outputs, runner.run(unstack_inputs(runner.inputs, {bytes})), true)[0];
}

/// Each byte's code by the definition. The mean is rounded to half a step of the sum at most, so only where the real
/// value lies as close to a tie as that may the code be one off.
void expect_normalized(const HostTensor& codes, const HostTensor& bytes, const ByteInput& how, int64_t channels) {
  const int64_t positions = bytes.size() / bytes.shape()[0] / channels;
  for (int64_t i = 0; i < bytes.size(); ++i) {
    const auto channel = static_cast<size_t>(i / positions % channels);
    const double mean = how.mean[how.mean.size() == 1 ? 0 : channel], std = how.std[how.std.size() == 1 ? 0 : channel];
    const double exact = (bytes.number(i) * how.scale - mean) / std / kScale + kZeroPoint;
    const double half_step = how.scale / (127 * std) / kScale / 2 + 1e-6;
    const bool tie = std::abs(exact - std::floor(exact) - 0.5) < half_step;
    EXPECT_NEAR(codes.number(i), std::clamp(std::nearbyint(exact), -128.0, 127.0), tie ? 1 : 0) << "element " << i;
  }
}

std::string quantized_input(const std::string& shape) {
  return "input %x: float32" + shape + " {name=\"x\"}\n%q: int8" + shape +
         " q(0.0186,-14) = quantize(%x)\n%y: float32" + shape + " = dequantize(%q)\noutput %y {name=\"y\"}\n";
}

TEST(TakeBytes, BytesThatAreTheCodesCostNothing) {
  const Graph torch = take_bytes(parse("input %x: float32[1,3,2,4] {name=\"x\"}\n"
                                       "%q: int8[1,3,2,4] q(0.003919653594493866,-128) = quantize(%x)\n"
                                       "%y: float32[1,3,2,4] = dequantize(%q)\noutput %y {name=\"y\"}\n"),
                                 {});
  const Graph quantized = after_passes(torch);
  EXPECT_TRUE(quantized.nodes.empty()) << print(quantized);
  const HostTensor bytes = random_bytes({5, 1, 3, 2, 4}), codes = codes_of(quantized, bytes);
  for (int64_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(codes.number(i), bytes.number(i) - 128);
}

TEST(TakeBytes, EachChannelHasItsMeanAndDeviation) {
  const Graph torch = take_bytes(parse(quantized_input("[1,3,5,4]")), kImageNet);
  verify(torch);
  const HostTensor bytes = random_bytes({9, 1, 3, 5, 4});
  expect_normalized(codes_of(after_passes(torch), bytes), bytes, kImageNet, 3);
  const Graph quantized = after_passes(torch);
  for (const Node& node : quantized.nodes) EXPECT_NE(quantized.type(node.out()).dtype, DType::kFloat32) << node.name;
}

TEST(TakeBytes, ManyChannelsHaveAMapEach) {
  ByteInput how{.mean = {}, .std = {}};
  for (int c = 0; c < 7; ++c) how.mean.push_back(0.1 * c), how.std.push_back(0.3 + 0.05 * c);
  const HostTensor bytes = random_bytes({5, 1, 7, 3, 4});
  const Graph quantized = after_passes(take_bytes(parse(quantized_input("[1,7,3,4]")), how));
  expect_normalized(codes_of(quantized, bytes), bytes, how, 7);
}

TEST(TakeBytes, ChannelsLastInMemory) {
  const Graph torch =
      take_bytes(parse("input %x: float32[1,5,4,3] {name=\"x\", exported=float32[1,3,5,4], order=[0,2,3,1]}\n"
                       "%p: float32[1,3,5,4] = permute(%x) {axes=[0,3,1,2]}\n"
                       "%q: int8[1,3,5,4] q(0.0186,-14) = quantize(%p)\n"
                       "%y: float32[1,3,5,4] = dequantize(%q)\noutput %y {name=\"y\"}\n"),
                 kImageNet);
  const HostTensor bytes = random_bytes({9, 1, 3, 5, 4});
  expect_normalized(codes_of(after_passes(torch), bytes), bytes, kImageNet, 3);
}

TEST(TakeBytes, AVectorIsNormalizedAsAWhole) {
  const ByteInput how = {.scale = 1, .mean = {100}, .std = {40}};
  const HostTensor bytes = random_bytes({9, 1, 12});
  expect_normalized(codes_of(after_passes(take_bytes(parse(quantized_input("[1,12]")), how)), bytes), bytes, how, 1);
}

TEST(TakeBytes, AFloatModelGetsRealNumbers) {
  const Graph torch = take_bytes(parse("input %x: float32[1,3,2,2] {name=\"x\"}\n%y: float32[1,3,2,2] = clamp(%x) "
                                       "{min=0}\noutput %y {name=\"y\"}\n"),
                                 kImageNet);
  const HostTensor bytes = random_bytes({4, 1, 3, 2, 2}), real = codes_of(after_passes(torch), bytes);
  for (int64_t i = 0; i < bytes.size(); ++i) {
    const auto channel = static_cast<size_t>(i / 4 % 3);
    const double x = (bytes.number(i) / 255 - kImageNet.mean[channel]) / kImageNet.std[channel];
    EXPECT_NEAR(real.number(i), std::max(x, 0.0), 1e-5);
  }
}

std::string error_of(const std::string& graph, const ByteInput& bytes) {
  try {
    take_bytes(parse(graph), bytes);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(TakeBytes, SaysWhatDoesNotFit) {
  EXPECT_EQ(error_of(quantized_input("[1,4,5,4]"), kImageNet),
            "error: 3 means and 3 standard deviations, but input \"x\" [1,4,5,4] has 4 channels\n"
            "  fix: give one for all channels, or one for each");
  EXPECT_EQ(error_of(quantized_input("[1,4,5,4]"), {.std = {0}}),
            "error: a scale or a standard deviation is not positive\n  fix: check --input-scale and --std");
  EXPECT_EQ(error_of("input %x: int64[1,4] {name=\"x\"}\noutput %x {name=\"y\"}\n", {}),
            "error: input \"x\" is int64 [1,4]: bytes are for float32 inputs\n  fix: leave out --input-type");
}

}  // namespace
}  // namespace rush
