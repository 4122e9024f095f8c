// SPDX-License-Identifier: Apache-2.0
//
// The text form: what it looks like, that it reads back as the same graph, and what is said of text that does not.
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "compiler/ir/graph.h"
#include "ops/clamp/clamp_op.h"
#include "tests/support/random.h"

namespace rush {
namespace {

constexpr std::string_view kText =
    R"(input %x: int8[1,2] q(0.023,-128) {name="in put", exported=float32[2,1], order=[1,0], border=q(0.023,-128)}
input %y: float32[]
state %ring: int8[2] q(0.1,0) = [0, -128] next %new
state %plain: float32[1,2] next %f as memory
const @w: int8[2,2] q[0](0.5,0; 0.25,3 in -127..127) = [1, 2, 3, -4]
const @b: float32[2] = [0.1, -inf]
const @zeros: int64[9] = splat(-7)
const @half: float16[2] = [0x3c00, 0xfbff]
const @"odd name\"\x0a": bool[2] = [0, 1]
%f: float32[1,2] = dequantize(%x) "head.fc" (model.py:41) as dq_1
%fc: float32[1,2] = linear(%f, %f, _) {min=0.1, max=6} "a \"b\"" ("we(i)rd")
%new: int8[2] q(0.1,0) = reshape(%ring) {shape=[2]}
output %fc
output %f {name="again"}
)";

TEST(TextForm, PrintsWhatItReads) {
  const Graph graph = parse(kText);
  EXPECT_EQ(print(graph), kText);
}

TEST(TextForm, ReadsEveryPart) {
  const Graph graph = parse(kText);
  EXPECT_EQ(graph.inputs[0].name, "in put");
  EXPECT_EQ(graph.inputs[0].exported_shape, (Shape{2, 1}));
  EXPECT_EQ(graph.inputs[0].dim_order, (std::vector<int>{1, 0}));
  EXPECT_EQ(graph.inputs[0].border->zero_point, std::vector<int64_t>{-128});
  EXPECT_EQ(graph.states[1].name, "memory");
  EXPECT_EQ(graph.states[1].initial, nullptr);
  EXPECT_EQ(graph[graph.states[0].next].name, "new");
  EXPECT_EQ(graph.nodes[0].name, "dq_1");
  EXPECT_EQ(graph.nodes[0].origin, (Origin{"head.fc", "model.py:41"}));
  EXPECT_FALSE(graph.nodes[1].inputs[2].valid());
  EXPECT_EQ(graph.outputs[1].name, "again");
}

TEST(TextForm, NumbersReadBackExactly) {
  Random random(17);
  Graph graph;
  HostTensor floats(DType::kFloat32, {50}), doubles(DType::kFloat64, {50});
  for (int64_t i = 0; i < 50; ++i) {
    floats.as<float>()[i] = std::bit_cast<float>(static_cast<uint32_t>(random.integer(0, 0x7f7fffff)));
    doubles.as<double>()[i] = std::bit_cast<double>(random.integer(0, 0x7fefffffffffffff));
  }
  floats.as<float>()[0] = -0.0f;
  Quant quant{.scale = {}, .zero_point = {}, .axis = 0};
  for (int64_t i = 0; i < 50; ++i) {
    quant.scale.push_back(doubles.as<double>()[i] + std::numeric_limits<double>::min());
    quant.zero_point.push_back(i);
  }
  graph.add_constant("floats", floats);
  graph.add_constant("doubles", doubles, quant);
  const Graph back = parse(print(graph));
  EXPECT_EQ(*back.tensors[0].data, floats);
  EXPECT_EQ(*back.tensors[1].data, doubles);
  EXPECT_EQ(back.tensors[1].type.quant, quant);
}

TEST(TextForm, LongConstantsAreHashed) {
  Graph graph;
  HostTensor data(DType::kInt8, {3});
  data.as<int8_t>()[1] = 5;
  graph.add_constant("w", data);
  const std::string text = print(graph, {.max_constant_elements = 2});
  // FNV-1a of the bytes 0, 5, 0.
  EXPECT_EQ(text, "const @w: int8[3] = hash d93c14186c00bfea\n");
  EXPECT_THROW(parse(text), UserError);
}

std::string message(std::string_view text) {
  try {
    parse(text);
  } catch (const UserError& error) {
    return error.diagnostics().at(0).what;
  }
  return "no error";
}

TEST(TextForm, SaysWhichLineIsWrong) {
  EXPECT_EQ(message("# comment\n\ninput %x: int9[2]\n"), "line 3: unknown element type 'int9'");
  EXPECT_EQ(message("input %x: int8[2\n"), "line 1: expected ',' before 'the end of the line'");
  EXPECT_EQ(message("input %x: int8[2] q(0.1)\n"), "line 1: expected ',' before ')'");
  EXPECT_EQ(message("input x: int8[2]\n"), "line 1: expected '%' before 'x: int8[2]'");
  EXPECT_EQ(message("input %x: int8[-2]\n"), "line 1: negative dimension");
  EXPECT_EQ(message("input %x: int8[2] 7\n"), "line 1: something follows the end of the statement");
  EXPECT_EQ(message("input %x: int8[2]\ninput %x: int8[2]\n"), "line 2: 'x' is defined twice");
  EXPECT_EQ(message("input %x: int8[2] {colour=7}\n"), "line 1: a port has no 'colour'");
  EXPECT_EQ(message("output %y\n"), "line 1: 'y' is not defined above");
  EXPECT_EQ(message("%y: int8[2] = clamp(%y)\n"), "line 1: 'y' is not defined above");
  EXPECT_EQ(message("state %s: int8[2] next %t\n"), "line 1: 't' is not defined above");
  EXPECT_EQ(message("input %x: int8[2]\n%y: int8[2] = clomp(%x)\n"), "line 2: unknown operator 'clomp'");
  EXPECT_EQ(message("input %x: int8[2]\n%y: int8[2] = clamp(%x) {mim=0}\n"), "line 2: clamp has no attribute 'mim'");
  EXPECT_EQ(message("input %x: int8[2]\n%y: int8[2] = clamp(%x) {min=a}\n"), "line 2: expected a number before 'a}'");
  EXPECT_EQ(message("const @c: int8[2] = [1]\n"), "line 1: expected ',' before ']'");
  EXPECT_EQ(message("const @c: int8[2] = [1, 2, 3]\n"), "line 1: expected ']' before ', 3]'");
  EXPECT_EQ(message("const @\"c: int8[2]\n"), "line 1: a string does not end");
}

TEST(Same, LooksThroughTheNumberingOfTensors) {
  const Graph a =
      parse("input %x: float32[2]\nconst @c: float32[2] = [1, 2]\n%y: float32[2] = add(%x, @c)\noutput %y\n");
  const Graph b =
      parse("const @c: float32[2] = [1, 2]\ninput %x: float32[2]\n%y: float32[2] = add(%x, @c)\noutput %y\n");
  EXPECT_NE(a.inputs[0].tensor, b.inputs[0].tensor);
  EXPECT_TRUE(same(a, b));
}

TEST(Same, SeesEveryDifference) {
  const std::string text =
      "input %x: float32[2]\nconst @c: float32[2] = [1, 2]\n%y: float32[2] = add(%x, @c) {min=0} \"l\" (f.py:1) as "
      "n\noutput %y\n";
  const Graph graph = parse(text);
  const auto differs = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return !same(graph, parse(changed));
  };
  EXPECT_TRUE(differs("[1, 2]", "[1, 3]"));
  EXPECT_TRUE(differs("add(%x, @c)", "add(@c, %x)"));
  EXPECT_TRUE(differs("add(%x, @c)", "add(%x, %x)"));
  EXPECT_TRUE(differs("min=0", "min=1"));
  EXPECT_TRUE(differs("\"l\"", "\"m\""));
  EXPECT_TRUE(differs("as n", "as m"));
  EXPECT_TRUE(differs("output %y", "output %y {name=\"z\"}"));
  EXPECT_TRUE(differs("output %y", "output %x"));
  EXPECT_TRUE(differs("output %y", ""));
  EXPECT_TRUE(differs("input %x: float32[2]", "input %x: float32[2] q(0.1,0)"));
}

}  // namespace
}  // namespace rush
