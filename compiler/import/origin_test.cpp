// SPDX-License-Identifier: Apache-2.0
//
// Metadata as torch 2.13 (and, for the root's older spellings, 2.5) writes it.
#include "compiler/import/origin.h"

#include <gtest/gtest.h>

#include "compiler/import/names.h"

namespace rush {
namespace {

TEST(Origin, LayerIsTheInnermostModule) {
  EXPECT_EQ(module_path("L__self__,,net.DSCNN;L__self__stem,stem,torch.nn.modules.container.Sequential;"
                        "L__self__stem.0,stem.0,torch.nn.modules.conv.Conv2d"),
            "stem.0");
  EXPECT_EQ(module_path("L__self__,,net.DSCNN;139829859737680,stem.0.1,torch.nn.modules.conv.Conv2d"), "stem.0.1");
  EXPECT_EQ(module_path("L__self__,L['self'],net.N;L__self___fc,L['self'].fc,torch.nn.modules.linear.Linear"), "fc");
  EXPECT_EQ(module_path("L__self__,,net.DSCNN"), "");
  EXPECT_EQ(module_path(""), "");
}

TEST(Origin, LineIsTheUsersInnermostFrame) {
  EXPECT_EQ(
      user_line("  File \"/home/me/code/model.py\", line 114, in forward\n    x = self.stem(x)\n"
                "  File \"/env/lib/python3.11/site-packages/torch/nn/modules/container.py\", line 253, in forward\n"
                "    input = module(input)\n"
                "  File \"/home/me/code/block.py\", line 86, in forward\n    return self.pw(self.dw(x))\n"
                "  File \"/env/lib/python3.11/site-packages/torch/nn/modules/conv.py\", line 565, in forward\n"),
      "block.py:86");
  EXPECT_EQ(user_line("File \"C:\\code\\net.py\", line 7, in forward"), "net.py:7");
  EXPECT_EQ(user_line("  File \"<eval_with_key>.42\", line 6, in forward\n"), "");
  EXPECT_EQ(
      user_line("  File \"/env/lib/python3.11/site-packages/torchvision/models/resnet.py\", line 92, in forward\n"),
      "resnet.py:92");
  EXPECT_EQ(user_line("File \"broken\", line , in forward\nFile \""), "");
}

TEST(Origin, QuantizerNodesBorrowFromTheirNeighbours) {
  Graph graph = parse(R"(
input %x: float32[4]
%q: int8[4] q(0.5,0) = quantize(%x) "q" (generated.py:1)
%dq: float32[4] = dequantize(%q) "dq" (generated.py:2)
%y: float32[4] = clamp(%dq) {min=0} "act" (model.py:5)
%q2: int8[4] q(0.5,0) = quantize(%y) "q2"
%dq2: float32[4] = dequantize(%q2) "dq2"
%z: float32[4] = clamp(%dq2) {max=1} "last" (model.py:6)
output %z
)");
  borrow_origins(graph);
  const Origin act{"act", "model.py:5"}, last{"last", "model.py:6"};
  const std::vector<Origin> expected = {act, act, act, act, act, last};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(graph.nodes[i].origin, expected[i]) << graph.nodes[i].name;
}

TEST(Names, KeepWhatIsHarmless) {
  EXPECT_EQ(identifier("block.0.conv_1"), "block.0.conv_1");
  EXPECT_EQ(identifier("*/ int x; /* \"a\"\n"), "___int_x______a__");
  EXPECT_EQ(identifier(""), "_");
  EXPECT_EQ(layer_name("größe.1[0]"), "größe.1[0]");
  EXPECT_EQ(layer_name("a\"b\\c*/\n"), "a_b_c___");
  EXPECT_EQ(printable("a\nb"), "a?b");
  EXPECT_EQ(printable(std::string(300, 'x')), std::string(200, 'x') + "...");
}

TEST(Names, AreGivenOutOnce) {
  UniqueNames names;
  EXPECT_EQ(names.take("a b"), "a_b");
  EXPECT_EQ(names.take("a_b"), "a_b.2");
  EXPECT_EQ(names.take("a_b"), "a_b.3");
  EXPECT_EQ(names.take("a_b.2"), "a_b.2.2");
}

}  // namespace
}  // namespace rush
