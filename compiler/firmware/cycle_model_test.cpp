// SPDX-License-Identifier: Apache-2.0
//
// Cycles of short sequences whose cost Arm's reference manuals state.
#include "compiler/firmware/cycle_model.h"

#include <gtest/gtest.h>

#include <sstream>

namespace rush::firmware {
namespace {

/// "ldr r0, [r1]; adds r0, r0, r2" with 4-byte encodings, a leading ':' for 2-byte ones.
std::vector<Instruction> assemble(const std::string& text) {
  std::vector<Instruction> code;
  std::istringstream in(text);
  uint32_t address = 0x100;
  for (std::string line; std::getline(in, line, ';');) {
    line.erase(0, line.find_first_not_of(' '));
    const bool narrow = line.starts_with(":");
    if (narrow) line.erase(0, 1);
    const size_t space = line.find(' ');
    code.push_back(
        {address, narrow ? 2 : 4, line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1)});
    address += static_cast<uint32_t>(code.back().bytes);
  }
  return code;
}

int64_t cycles(const char* core, const std::string& text) {
  const Target target = load_target(core);
  PipelineState state(target.pipeline);
  for (const Instruction& instruction : assemble(text)) state.issue(decode(instruction));
  return state.cycles();
}

/// A loop of one block that runs `count` times: what the trace of such a loop costs.
double loop_cycles(const char* core, const std::string& text, uint64_t count) {
  const Target target = load_target(core);
  Disassembly code;
  for (const Instruction& instruction : assemble(text)) code.instructions[instruction.address] = instruction;
  code.functions = {{"loop", 0x100, 0x10000}};
  const Trace trace{{{0x100, static_cast<uint32_t>(code.instructions.size())}}, {{{-1, 0, 1}, {0, 0, count - 1}}}};
  return profile_region(trace.regions[0], trace, code, target.pipeline).cycles;
}

TEST(CycleModel, CortexM0LoadsTakeTwoCycles) {
  EXPECT_EQ(cycles("cortex-m0", ":ldr r0, [r1, #0]; :adds r0, r0, r2; :muls r0, r2"), 2 + 1 + 1);
  EXPECT_EQ(cycles("cortex-m0", ":ldmia r0!, {r1, r2, r3}; :nop"), 4 + 1);  // 1 + N
  EXPECT_EQ(cycles("cortex-m0", ":push {r4, r5, lr}; :nop"), 4 + 1);
}

TEST(CycleModel, CortexM0TakenBranchCostsThree) {
  EXPECT_EQ(loop_cycles("cortex-m0", ":subs r0, #1; :bne.n 100", 100), 2 + 99 * (1 + 3));
  EXPECT_EQ(loop_cycles("cortex-m0plus", ":subs r0, #1; :bne.n 100", 100), 2 + 99 * (1 + 2));
}

TEST(CycleModel, CortexM4LoadsPipeline) {
  EXPECT_EQ(cycles("cortex-m4", "ldr r0, [r1]; ldr r2, [r1, #4]; ldr r3, [r1, #8]; mov r4, r5"), 1 + 3 + 1);
  EXPECT_EQ(cycles("cortex-m4", "smlad r0, r1, r2, r0; smlad r0, r1, r2, r0; smlal r4, r5, r1, r2"), 3);
}

TEST(CycleModel, CortexM3MultiplyAccumulateTakesTwo) {
  EXPECT_EQ(cycles("cortex-m3", "mla r0, r1, r2, r0; mla r3, r1, r2, r3; nop"), 2 + 2 + 1);
  EXPECT_EQ(cycles("cortex-m3", "mul r0, r1, r2; mul r3, r1, r2; nop"), 3);
}

TEST(CycleModel, CortexM7IssuesTwo) {
  EXPECT_EQ(cycles("cortex-m7", "add r0, r1, r2; add r3, r4, r5; add r6, r7, r8; add r9, r1, r2"), 2);
  EXPECT_EQ(cycles("cortex-m7", "add r0, r1, r2; add r3, r0, r5"), 2);   // dependent
  EXPECT_EQ(cycles("cortex-m7", "mul r0, r1, r2; mul r3, r4, r5"), 2);   // one multiplier
  EXPECT_EQ(cycles("cortex-m7", "ldr r0, [r1]; ldr r2, [r3]; nop"), 2);  // two loads
}

TEST(CycleModel, CortexM33PaysForUsingALoadAtOnce) {
  EXPECT_EQ(cycles("cortex-m33", "ldr r0, [r1]; add r2, r0, r3"), 3);
  EXPECT_EQ(cycles("cortex-m33", "ldr r0, [r1]; add r4, r5, r3; add r2, r0, r3"), 3);
}

// Dual beat: a load beside a multiply-accumulate in two cycles, so 16 int8 products per two cycles.
TEST(CycleModel, CortexM55OverlapsLoadsWithMultiplies) {
  std::string loop;
  for (const char* step :
       {"vldrb.u8 q0, [r1], #16; vmladava.s8 r2, q4, q5;", "vldrb.u8 q1, [r1], #16; vmladava.s8 r4, q4, q5;",
        "vldrb.u8 q2, [r1], #16; vmladava.s8 r6, q4, q5;", "vldrb.u8 q3, [r1], #16; vmladava.s8 r8, q4, q5;"}) {
    loop += step;
  }
  loop += "le lr, 100";
  EXPECT_NEAR(loop_cycles("cortex-m55", loop, 1000), 1000 * 8, 2);
}

TEST(CycleModel, CortexM55VectorUnitsAreBusyForTwoCycles) {
  EXPECT_NEAR(loop_cycles("cortex-m55", "vadd.i32 q0, q4, q5; vadd.i32 q1, q4, q5; le lr, 100", 1000), 4000, 2);
}

TEST(CycleModel, PredictedBranchesPayForTheRarerWay) {
  const Target target = load_target("cortex-m7");
  Disassembly code;
  for (const Instruction& i : assemble(":cmp r0, r1; :bne.n 100; :nop; :nop")) code.instructions[i.address] = i;
  // Block 0 falls through to block 1 90 times and jumps to itself 10 times.
  const Trace trace{{{0x100, 2}, {0x104, 2}}, {}};
  const std::vector<TraceEdge> even = {{0, 1, 100}};
  const std::vector<TraceEdge> mixed = {{0, 1, 90}, {0, 0, 10}};
  const double sure = profile_region(even, trace, code, target.pipeline).cycles;
  const double wavering = profile_region(mixed, trace, code, target.pipeline).cycles;
  EXPECT_GT(wavering, sure * 0.9 + 10 * target.pipeline.mispredict);
}

TEST(CycleModel, CountsInstructionsByFunction) {
  const Target target = load_target("cortex-m4");
  Disassembly code;
  for (const Instruction& i : assemble("add r0, r1, r2; b.w 200")) code.instructions[i.address] = i;
  code.functions = {{"f", 0x100, 0x108}};
  const Trace trace{{{0x100, 2}}, {{{-1, 0, 7}}}};
  const Profile profile = profile_region(trace.regions[0], trace, code, target.pipeline);
  EXPECT_EQ(profile.instructions, 14u);
  EXPECT_EQ(profile.functions.at("f").instructions, 14u);
}

}  // namespace
}  // namespace rush::firmware
