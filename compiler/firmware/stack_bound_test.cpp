// SPDX-License-Identifier: Apache-2.0
//
// Frames from instructions, and the deepest chain of calls.
#include "compiler/firmware/stack_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rush::firmware {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::map<std::string, Frame> frames_of(const std::string& listing) { return read_frames(parse_disassembly(listing)); }

Frame frame(uint32_t bytes, std::set<std::string> calls = {}, bool indirect = false) {
  return {bytes, std::move(calls), indirect, true};
}

TEST(Frames, CountsPushesAndSubtractions) {
  const auto frames = frames_of(
      "00000100 <f>:\n"
      " 100:\te92d 4ff0 \tstmdb\tsp!, {r4, r5, r6, r7, r8, r9, sl, fp, lr}\n"
      " 104:\ted2d 8b04 \tvpush\t{d8-d9}\n"
      " 108:\tb09d      \tsub\tsp, #116\t@ 0x74\n"
      " 10a:\tb01d      \tadd\tsp, #116\t@ 0x74\n"
      " 10c:\tf84d 7d08 \tstr.w\tr7, [sp, #-8]!\n"
      " 110:\t4770      \tbx\tlr\n");
  EXPECT_EQ(frames.at("f").bytes, 9u * 4 + 16 + 116 + 8);
  EXPECT_TRUE(frames.at("f").bounded);
  EXPECT_FALSE(frames.at("f").calls_indirectly);
}

TEST(Frames, FindsCallsTailCallsAndPointers) {
  const auto frames = frames_of(
      "00000100 <f>:\n"
      " 100:\tf000 f806 \tbl\t110 <g>\n"
      " 104:\t4798      \tblx\tr3\n"
      " 106:\te7fb      \tb.n\t100 <f>\n"
      " 108:\tf000 b802 \tb.w\t110 <g>\n"
      "00000110 <g>:\n"
      " 110:\tbd10      \tpop\t{r4, pc}\n");
  EXPECT_THAT(frames.at("f").calls, ElementsAre("g"));
  EXPECT_TRUE(frames.at("f").calls_indirectly);
  EXPECT_THAT(frames.at("g").calls, IsEmpty());
}

TEST(Frames, AVariableFrameHasNoBound) {
  const auto frames = frames_of("00000100 <f>:\n 100:\tebad 0d03 \tsub.w\tsp, sp, r3\n");
  EXPECT_FALSE(frames.at("f").bounded);
}

TEST(StackBound, TakesTheDeepestChain) {
  const StackBound bound = bound_stack({{"run", frame(24, {"step", "small"})},
                                        {"step", frame(32, {}, true)},
                                        {"small", frame(40)},
                                        {"conv", frame(100, {"memcpy"})},
                                        {"pool", frame(110)},
                                        {"memcpy", frame(16)}},
                                       {{"run"}, {{"step", {"conv", "pool"}}}});
  EXPECT_EQ(bound.bytes, 24u + 32 + 100 + 16);
  EXPECT_THAT(bound.path, ElementsAre("run", "step", "conv", "memcpy"));
  EXPECT_THAT(bound.faults, IsEmpty());
}

TEST(StackBound, NamesWhatHasNoBound) {
  const StackBound bound = bound_stack({{"run", frame(8, {"a", "pointer", "dynamic"})},
                                        {"a", frame(8, {"b"})},
                                        {"b", frame(8, {"a"})},
                                        {"pointer", frame(8, {}, true)},
                                        {"dynamic", {8, {}, false, false}}},
                                       {{"run"}, {}});
  EXPECT_THAT(bound.faults,
              ElementsAre("a is recursive", "dynamic has a frame of unknown size", "pointer calls through a pointer"));
}

TEST(StackUsage, FindsDynamicFrames) {
  EXPECT_THAT(dynamic_frames("k.cpp:3:6:void f(int)\t24\tstatic\nk.cpp:9:6:void g(int)\t40\tdynamic\n"
                             "k.cpp:12:6:void h()\t16\tdynamic,bounded\n"),
              ElementsAre("k.cpp:9:6:void g(int)"));
}

}  // namespace
}  // namespace rush::firmware
