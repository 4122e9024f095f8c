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

constexpr const char* kChip = R"(
name = "chip"
description = "d"
core = "cortex-m55"
mhz = 123
data_cache = "16K"
[[memory]]
name = "dtcm"
kind = "ram"
size = "64K"
reserved = "4K"
read_cycles = 0
write_cycles = 0
section = ".bss"
[[memory]]
name = "flash"
kind = "flash"
size = "1M"
read_cycles = 30
cached = true
section = ".rodata"
)";

TEST(Target, TenCoresAndTwoChipsAreKnown) {
  EXPECT_THAT(target_names(),
              ElementsAre("alif-e8-hp", "cortex-m0", "cortex-m0plus", "cortex-m23", "cortex-m3", "cortex-m33",
                          "cortex-m35p", "cortex-m4", "cortex-m55", "cortex-m7", "cortex-m85", "ra8d1"));
}

TEST(Target, AChipIsItsCoreButForWhatItSays) {
  const Target chip = parse_target(kChip, "chip.toml"), core = load_target("cortex-m55");
  EXPECT_EQ(chip.name, "chip");
  EXPECT_EQ(chip.core, "cortex-m55");
  EXPECT_EQ(chip.mhz, 123);
  EXPECT_EQ(chip.gcc_flags, core.gcc_flags);
  EXPECT_EQ(chip.pipeline.costs.size(), core.pipeline.costs.size());
  EXPECT_EQ(chip.ram_bytes, 60u * 1024);
  EXPECT_EQ(chip.flash_bytes, 1024u * 1024);
  EXPECT_EQ(chip.cache_bytes, 16u * 1024);
  ASSERT_EQ(chip.memories.size(), 2u);
  EXPECT_EQ(chip.memories[0].bytes, 60u * 1024) << "less what is reserved";
  EXPECT_FALSE(chip.memories[0].cached);
  EXPECT_TRUE(chip.memories[1].is_flash && chip.memories[1].cached);
  EXPECT_EQ(chip.memories[1].read_cycles, 30);
  EXPECT_TRUE(load_board(core.board).runs(chip));
}

TEST(Target, AChipNeedsOneFlash) {
  std::string text = kChip;
  text.replace(text.find("kind = \"flash\""), 14, "kind = \"ram\"\nwrite_cycles = 1");
  EXPECT_THAT(
      user_error([&] { parse_target(text, "chip.toml"); }),
      StrEq("error: chip.toml: memory: a chip needs one flash, where images lie\n  fix: correct the description"));
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
                    "  fix: use one of alif-e8-hp, cortex-m0, cortex-m0plus, cortex-m23, cortex-m3, cortex-m33, "
                    "cortex-m35p, cortex-m4, cortex-m55, cortex-m7, cortex-m85, ra8d1"));
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
