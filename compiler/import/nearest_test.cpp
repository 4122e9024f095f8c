// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/nearest.h"

#include <gtest/gtest.h>

namespace rush {
namespace {

TEST(Nearest, FindsOverloadsAndInPlaceForms) {
  const std::string words = nearest_operator("torch.ops.aten.neg.default");
  EXPECT_EQ(words, "0 - x, or the sign in the weights of the layer before");
  EXPECT_EQ(nearest_operator("torch.ops.aten.neg_.default"), words);
  EXPECT_EQ(nearest_operator("aten.matmul.default"), "nn.Linear, where one side is a constant");
}

TEST(Nearest, SaysNothingOfWhatIsFar) {
  EXPECT_EQ(nearest_operator("torch.ops.aten.fft_rfft.default"), "");
  EXPECT_EQ(nearest_operator(""), "");
  EXPECT_EQ(nearest_operator("torch.ops."), "");
}

}  // namespace
}  // namespace rush
