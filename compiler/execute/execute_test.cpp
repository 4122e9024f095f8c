// SPDX-License-Identifier: Apache-2.0
//
// Running graphs, with states; and the way between the exported tensors and memory.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/execute/execute.h"
#include "compiler/execute/ports.h"
#include "ops/quantization.h"

namespace rush {
namespace {

HostTensor floats(Shape shape, const std::vector<float>& values) {
  return make_tensor(DType::kFloat32, std::move(shape), values);
}
HostTensor codes(Shape shape, const std::vector<int8_t>& values) {
  return make_tensor(DType::kInt8, std::move(shape), values);
}

TEST(Execute, RunsNodesInOrderAndShowsThem) {
  const Graph graph = parse(R"(input %x: float32[3]
const @c: float32[3] = [10, 20, 30]
%sum: float32[3] = add(%x, @c) {alpha=2}
%low: float32[3] = clamp(%sum) {max=42}
output %low
output %x
)");
  std::vector<std::string> seen;
  const auto outputs = run_graph(graph, {floats({3}, {1, 2, 3})}, [&](const Node& node, size_t i, const HostTensor& v) {
    seen.push_back(node.name + std::to_string(i) + " " + std::to_string(static_cast<int>(v.number(2))));
  });
  EXPECT_EQ(outputs.at(0), floats({3}, {21, 42, 42}));
  EXPECT_EQ(outputs.at(1), floats({3}, {1, 2, 3}));
  EXPECT_EQ(seen, (std::vector<std::string>{"sum0 63", "low0 42"}));
}

TEST(Execute, StatesLastFromRunToRun) {
  const Graph graph = parse(R"(input %x: float32[1]
state %total: float32[1] = [100] next %sum
state %last: float32[1] next %x
%sum: float32[1] = add(%total, %x)
%y: float32[1] = add(%sum, %last)
output %y
)");
  GraphExecutor executor(graph);
  EXPECT_EQ(executor.run({floats({1}, {1})}).at(0), floats({1}, {101}));
  EXPECT_EQ(executor.run({floats({1}, {2})}).at(0), floats({1}, {104}));
  EXPECT_EQ(executor.run({floats({1}, {3})}).at(0), floats({1}, {108}));
  executor.reset();
  EXPECT_EQ(executor.run({floats({1}, {1})}).at(0), floats({1}, {101}));
  EXPECT_EQ(run_graph(graph, {floats({1}, {7})}).at(0), floats({1}, {107}));
}

TEST(Execute, RefusesInputsOfAnotherType) {
  const Graph graph = parse("input %x: float32[2]\noutput %x\n");
  EXPECT_THROW(run_graph(graph, {floats({3}, {1, 2, 3})}), InternalError);
  EXPECT_THROW(run_graph(graph, {codes({2}, {1, 2})}), InternalError);
  EXPECT_THROW(run_graph(graph, {}), InternalError);
}

PortFormat format_of(std::string_view text) {
  const Graph graph = parse(text);
  return port_format(graph, graph.inputs.at(0));
}

// Channels-last: the exported axes are (1, 2, 1, 3), memory is (1, 1, 3, 2).
const PortFormat kMap = format_of(
    R"(input %x: int8[1,1,3,2] q(0.5,3) {name="image", exported=float32[1,2,1,3], order=[0,2,3,1], border=q(0.5,3)})");

TEST(Ports, QuantizeAndReorder) {
  // round(0.75 / 0.5) is a tie, to the even 2; 100 saturates.
  const HostTensor exported = floats({1, 2, 1, 3}, {0, 0.5, 0.75, -1, 100, -0.25});
  EXPECT_EQ(to_memory(kMap, exported), codes({1, 1, 3, 2}, {3, 1, 4, 127, 5, 3}));
}

TEST(Ports, ManyValuesQuantizeAsOneByOne) {
  std::vector<float> reals = {0.0f, -0.0f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN, 1e-30f, 4194303.5f, 3e9f};
  for (int i = -600; i <= 600; ++i) reals.push_back(static_cast<float>(i) * 0.25f);
  for (const int64_t zero_point : {-128, -3, 127}) {
    const Quant quant{.scale = {0.5}, .zero_point = {zero_point}, .axis = -1, .min = -127, .max = 100};
    std::vector<int8_t> codes(reals.size());
    quantize_codes(reals.data(), static_cast<int64_t>(reals.size()), quant, codes.data());
    for (size_t i = 0; i < reals.size(); ++i) EXPECT_EQ(codes[i], quantize_code(reals[i], quant)) << reals[i];
  }
}

TEST(Ports, CodesAreTakenAsTheyAre) {
  EXPECT_EQ(to_memory(kMap, codes({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6})), codes({1, 1, 3, 2}, {1, 4, 2, 5, 3, 6}));
}

TEST(Ports, DequantizeAndReorderBack) {
  const HostTensor memory = codes({1, 1, 3, 2}, {3, 1, 4, 127, 5, -128});
  EXPECT_EQ(from_memory(kMap, memory), floats({1, 2, 1, 3}, {0, 0.5, 1, -1, 62, -65.5}));
  EXPECT_EQ(from_memory(kMap, memory, true), codes({1, 2, 1, 3}, {3, 4, 5, 1, 127, -128}));
}

TEST(Ports, UnsignedCodesAreShifted) {
  const PortFormat port = format_of("input %x: int8[3] q(0.02,-8) {exported=uint8[3]}");
  const HostTensor exported = make_tensor<uint8_t>(DType::kUInt8, {3}, {0, 128, 255});
  EXPECT_EQ(to_memory(port, exported), codes({3}, {-128, 0, 127}));
  EXPECT_EQ(from_memory(port, codes({3}, {-128, 0, 127})), exported);
}

TEST(Ports, SayWhatDoesNotFit) {
  try {
    to_memory(kMap, floats({1, 2, 3}, {0, 0, 0, 0, 0, 0}));
    FAIL() << "no error";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "error: input \"image\" is float32 [1,2,1,3], but was given float32 [1,2,3]\n"
                 "  fix: give it in the exported model's shape and element type");
  }
  EXPECT_THROW(to_memory(format_of("input %x: float32[1]"), codes({1}, {1})), UserError);
}

}  // namespace
}  // namespace rush
