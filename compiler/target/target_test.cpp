// SPDX-License-Identifier: Apache-2.0
//
// Descriptions: what the shipped ones say, and the messages for wrong ones.
#include "compiler/target/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "compiler/ir/diagnostic.h"
#include "compiler/target/description.h"
#include "tests/support/user_error.h"

namespace rush {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StrEq;

constexpr const char* kBoard = R"(
name = "b"
description = "d"
cores = ["cortex-m0"]
stack = "2K"
[qemu]
machine = "m"
cpu = "c"
core_hz = 1000000
[records]
base = 0x20000
size = "128K"
[[memory]]
name = "flash"
kind = "flash"
base = 0
size = "128K"
[[memory]]
name = "ram"
kind = "ram"
base = 0x20000000
size = "16K"
)";

TEST(Target, TenCoresAreKnown) {
  EXPECT_THAT(target_names(), ElementsAre("cortex-m0", "cortex-m0plus", "cortex-m23", "cortex-m3", "cortex-m33",
                                          "cortex-m35p", "cortex-m4", "cortex-m55", "cortex-m7", "cortex-m85"));
}

TEST(Target, SixBoardsAreKnown) {
  EXPECT_THAT(board_names(),
              ElementsAre("microbit", "mps2-an385", "mps2-an386", "mps2-an500", "mps2-an505", "mps3-an547"));
}

TEST(Target, EveryTargetsBoardRunsItsCode) {
  for (const std::string& name : target_names()) {
    const Target target = load_target(name);
    EXPECT_EQ(target.name, name);
    EXPECT_TRUE(load_board(target.board).runs(target)) << name;
  }
}

TEST(Target, ClassesOfCores) {
  EXPECT_EQ(load_target("cortex-m0plus").isa, Isa::kScalar);
  EXPECT_EQ(load_target("cortex-m23").isa, Isa::kScalar);
  EXPECT_EQ(load_target("cortex-m3").isa, Isa::kScalar);
  EXPECT_EQ(load_target("cortex-m4").isa, Isa::kDsp);
  EXPECT_EQ(load_target("cortex-m35p").isa, Isa::kDsp);
  EXPECT_EQ(load_target("cortex-m85").isa, Isa::kMve);
}

TEST(Target, CoresWithAnFpuPassFloatsInRegisters) {
  EXPECT_THAT(load_target("cortex-m4").gcc_flags,
              ElementsAre("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"));
  EXPECT_THAT(load_target("cortex-m3").clang_flags,
              ElementsAre("--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", "-mfloat-abi=soft"));
}

TEST(Target, UnknownTargetListsTheKnownOnes) {
  EXPECT_THAT(user_error([] { load_target("cortex-m99"); }),
              StrEq("error: unknown target \"cortex-m99\"\n"
                    "  fix: use one of cortex-m0, cortex-m0plus, cortex-m23, cortex-m3, cortex-m33, cortex-m35p, "
                    "cortex-m4, cortex-m55, cortex-m7, cortex-m85"));
}

TEST(Target, UnknownBoardListsTheKnownOnes) {
  EXPECT_THAT(user_error([] { load_board("nucleo"); }),
              StrEq("error: unknown board \"nucleo\"\n"
                    "  fix: use one of microbit, mps2-an385, mps2-an386, mps2-an500, mps2-an505, mps3-an547"));
}

TEST(Target, ABoardRefusesCodeOfABiggerCore) {
  EXPECT_THAT(user_error([] { require_runs(load_board("mps2-an386"), load_target("cortex-m55")); }),
              StrEq("error: board mps2-an386 does not run code for cortex-m55\n  fix: use one of mps3-an547"));
}

TEST(Board, Memories) {
  const Board microbit = load_board("microbit");
  EXPECT_EQ(microbit.ram().base, 0x20000000u);
  EXPECT_EQ(microbit.ram().bytes, 16u * 1024);
  EXPECT_EQ(microbit.flash().bytes + microbit.records_bytes, 256u * 1024);
  EXPECT_EQ(&microbit.vectors(), &microbit.flash());
  EXPECT_EQ(load_board("mps3-an547").vectors().base, 0x10000000u);
}

TEST(Board, ParsesWithoutVectorsMemory) {
  const Board board = parse_board(kBoard, "b.toml");
  EXPECT_EQ(board.stack_bytes, 2048u);
  EXPECT_EQ(board.records_base, 0x20000u);
  EXPECT_EQ(board.memories.size(), 2u);
}

TEST(Board, NeedsRam) {
  std::string text = kBoard;
  text.replace(text.find("kind = \"ram\""), 12, "kind = \"flash\"");
  EXPECT_THAT(user_error([&] { parse_board(text, "b.toml"); }),
              StrEq("error: b.toml: memory: a board needs a flash and a ram memory\n  fix: correct the description"));
}

TEST(Description, NamesFileAndKeyOfAWrongValue) {
  std::string text = kBoard;
  text.replace(text.find("\"2K\""), 4, "\"2Q\"");
  EXPECT_THAT(user_error([&] { parse_board(text, "b.toml"); }),
              StrEq("error: b.toml: stack: a size is needed, such as 512, \"16K\" or \"2M\"\n"
                    "  fix: correct the description"));
}

TEST(Description, NamesTheLineThatIsNoToml) {
  EXPECT_THAT(user_error([] { parse_board("name = \"a\"\nstack = [\n", "b.toml"); }), HasSubstr("error: b.toml:"));
}

TEST(Description, Sizes) {
  EXPECT_EQ(parse_size("512"), 512u);
  EXPECT_EQ(parse_size("16K"), 16384u);
  EXPECT_EQ(parse_size("2M"), 2097152u);
  EXPECT_EQ(parse_size("2G"), 0u);
  EXPECT_EQ(parse_size("K"), 0u);
}

TEST(DataRoot, RefusesAHomeWithoutTargets) {
  setenv("RUSHLIGHT_HOME", "/nonexistent", 1);
  const std::string message = user_error([] { data_root(); });
  unsetenv("RUSHLIGHT_HOME");
  EXPECT_THAT(message, StrEq("error: RUSHLIGHT_HOME is \"/nonexistent\", which has no directory \"targets\"\n"
                             "  fix: set it to Rushlight's source tree or share/rushlight directory, or unset it"));
}

}  // namespace
}  // namespace rush
