// SPDX-License-Identifier: Apache-2.0
//
// Reading objdump's listing, and decoding what it lists.
#include "compiler/firmware/disassembly.h"

#include <gtest/gtest.h>

#include "compiler/firmware/operation.h"

namespace rush::firmware {
namespace {

using enum OpClass;

constexpr const char* kListing =
    "\nfirmware.elf:     file format elf32-littlearm\n\n\nDisassembly of section .text:\n\n"
    "10000100 <dot>:\n"
    "10000100:\tb500      \tpush\t{lr}\n"
    "10000102:\tf042 e001 \tdls\tlr, r2\n"
    "10000106:\tf913 cf01 \tldrsb.w\tip, [r3, #1]!\n"
    "1000010a:\tfb1c 0002 \tsmlabb\tr0, ip, r2, r0\n"
    "1000010e:\tf00f c009 \tle\tlr, 10000106 <dot+0x6>\n"
    "10000112:\tbd00      \tpop\t{pc}\n"
    "10000114:\t92492493 \t.word\t0x92492493\n"
    "\n10000118 <main>:\n"
    "10000118:\tf7ff fff2 \tbl\t10000100 <dot>\n"
    "1000011c:\t4b03      \tldr\tr3, [pc, #12]\t@ (1000012c <main+0x14>)\n";

Operation decode_text(const char* mnemonic, const char* operands, int bytes = 4) {
  return decode({0, bytes, mnemonic, operands});
}

constexpr Registers reg(int number) { return Registers{1} << number; }
constexpr Registers single(int number) { return Registers{1} << (kFirstSingleBit + number); }
constexpr Registers quad(int number) { return Registers{0xF} << (kFirstSingleBit + 4 * number); }

TEST(Disassembly, ReadsFunctionsAndInstructions) {
  const Disassembly d = parse_disassembly(kListing);
  ASSERT_EQ(d.functions.size(), 2u);
  EXPECT_EQ(d.functions[0].name, "dot");
  EXPECT_EQ(d.functions[0].end, 0x10000114u);
  EXPECT_EQ(d.functions[1].begin, 0x10000118u);
  EXPECT_EQ(d.instructions.size(), 8u);
  const Instruction& load = d.instructions.at(0x10000106);
  EXPECT_EQ(load.bytes, 4);
  EXPECT_EQ(load.mnemonic, "ldrsb.w");
  EXPECT_EQ(load.operands, "ip, [r3, #1]!");
  EXPECT_EQ(d.instructions.at(0x10000112).bytes, 2);
  EXPECT_EQ(d.instructions.at(0x1000011c).operands, "r3, [pc, #12]");
}

TEST(Disassembly, FindsTheFunctionOfAnAddress) {
  const Disassembly d = parse_disassembly(kListing);
  EXPECT_EQ(d.function_at(0x1000010a)->name, "dot");
  EXPECT_EQ(d.function_at(0x10000114), nullptr);  // data between functions
  EXPECT_EQ(d.function_at(0x0fffffff), nullptr);
  EXPECT_EQ(d.find("main")->begin, 0x10000118u);
  EXPECT_EQ(d.find("other"), nullptr);
}

TEST(Disassembly, BranchTargets) {
  const Disassembly d = parse_disassembly(kListing);
  EXPECT_EQ(branch_target(d.instructions.at(0x10000118)), 0x10000100u);
  EXPECT_EQ(branch_target(d.instructions.at(0x1000010e)), 0x10000106u);
  EXPECT_EQ(branch_target(d.instructions.at(0x10000112)), 0u);
}

TEST(Operation, LoadWithWriteBack) {
  const Operation op = decode_text("ldrsb.w", "ip, [r3, #1]!");
  EXPECT_EQ(op.op_class, kLoadNarrow);
  EXPECT_EQ(op.results, reg(12));
  EXPECT_EQ(op.updates, reg(3));
  EXPECT_EQ(op.reads, reg(3));
}

TEST(Operation, PostIndexedStore) {
  const Operation op = decode_text("str.w", "r0, [r1], #4");
  EXPECT_EQ(op.op_class, kStore);
  EXPECT_EQ(op.stored, reg(0));
  EXPECT_EQ(op.updates, reg(1));
  EXPECT_EQ(op.results, 0u);
}

TEST(Operation, MultiplyAccumulateReadsItsAccumulatorLate) {
  const Operation op = decode_text("smlad", "r0, r1, r2, r3");
  EXPECT_EQ(op.op_class, kMac);
  EXPECT_EQ(op.results, reg(0));
  EXPECT_EQ(op.reads, reg(1) | reg(2));
  EXPECT_EQ(op.accumulates, reg(3));
}

TEST(Operation, AccumulatorThatIsAlsoAFactorIsNeededAtOnce) {
  const Operation op = decode_text("mla", "r0, r0, r2, r0");
  EXPECT_EQ(op.reads, reg(0) | reg(2));
}

TEST(Operation, TwoOperandAluReadsItsResult) {
  EXPECT_EQ(decode_text("add", "r3, r0", 2).reads, reg(3) | reg(0));
  EXPECT_EQ(decode_text("mov", "r3, r0", 2).reads, reg(0));
  EXPECT_EQ(decode_text("subs", "r3, #1", 2).results, reg(3) | reg(kFlagsBit));
}

TEST(Operation, Conditions) {
  EXPECT_EQ(decode_text("bls.n", "1234").op_class, kBranch);
  EXPECT_TRUE(decode_text("bls.n", "1234").conditional);
  EXPECT_FALSE(decode_text("b.n", "1234").conditional);
  EXPECT_EQ(decode_text("mls", "r0, r1, r2, r3").op_class, kMac);
  EXPECT_EQ(decode_text("andsne.w", "r0, r1, #1").results, reg(0) | reg(kFlagsBit));
  const Operation moved = decode_text("movgt", "r0, #5", 2);
  EXPECT_EQ(moved.reads, reg(0) | reg(kFlagsBit));
}

TEST(Operation, RegisterLists) {
  const Operation push = decode_text("push", "{r4, r5, r6, lr}", 2);
  EXPECT_EQ(push.op_class, kStoreMany);
  EXPECT_EQ(push.registers_moved, 4);
  EXPECT_EQ(push.updates, reg(13));
  const Operation pop = decode_text("ldmia.w", "sp!, {r4-r7, pc}");
  EXPECT_EQ(pop.registers_moved, 5);
  EXPECT_EQ(pop.results, reg(4) | reg(5) | reg(6) | reg(7) | reg(15));
  EXPECT_EQ(decode_text("vpush", "{d8-d9}").registers_moved, 4);
}

TEST(Operation, ShiftedOperand) {
  EXPECT_EQ(decode_text("add.w", "r0, r1, r2, lsl #2").op_class, kShiftAlu);
  EXPECT_EQ(decode_text("mov.w", "r3, r3, asr #16").op_class, kAlu);
  EXPECT_EQ(decode_text("ubfx", "r0, r1, #3, #5").op_class, kBitField);
}

TEST(Operation, HeliumAndFpuShareNames) {
  const Operation vector = decode_text("vadd.i32", "q0, q1, q2");
  EXPECT_EQ(vector.op_class, kVectorAlu);
  EXPECT_EQ(vector.results, quad(0));
  EXPECT_EQ(vector.reads, quad(1) | quad(2));
  const Operation scalar = decode_text("vadd.f32", "s0, s1, s2");
  EXPECT_EQ(scalar.op_class, kFpAlu);
  EXPECT_EQ(scalar.reads, single(1) | single(2));
  EXPECT_EQ(decode_text("vadd.f32", "q0, q1, q2").op_class, kVectorFp);
}

TEST(Operation, HeliumMemory) {
  EXPECT_EQ(decode_text("vldrb.s32", "q3, [r1], #4").op_class, kVectorLoad);
  EXPECT_EQ(decode_text("vldrb.u8", "q0, [r0, q1]").op_class, kVectorGather);
  EXPECT_EQ(decode_text("vstrbt.8", "q3, [r3]").op_class, kVectorStore);  // predicated
  EXPECT_EQ(decode_text("vstrb.8", "q0, [r0, q1]").op_class, kVectorScatter);
}

TEST(Operation, HeliumReduction) {
  const Operation op = decode_text("vmladava.s8", "r0, q1, q2");
  EXPECT_EQ(op.op_class, kVectorMacToCore);
  EXPECT_EQ(op.results, reg(0));
  EXPECT_EQ(op.accumulates, reg(0));
  EXPECT_EQ(op.reads, quad(1) | quad(2));
  EXPECT_EQ(decode_text("vmov.32", "r0, q0[1]").op_class, kVectorToCore);
}

TEST(Operation, LoopsAndBlocks) {
  EXPECT_EQ(decode_text("le", "lr, 10").op_class, kLoopEnd);
  EXPECT_EQ(decode_text("dlstp.8", "lr, r2").op_class, kLoopStart);
  EXPECT_EQ(decode_text("itte", "gt", 2).op_class, kIfThen);
  EXPECT_EQ(decode_text("vpst", "").op_class, kPredicate);
  EXPECT_FALSE(known("cdp"));
  EXPECT_TRUE(known("vqrdmlah.s32"));
}

}  // namespace
}  // namespace rush::firmware
