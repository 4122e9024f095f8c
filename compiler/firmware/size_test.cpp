// SPDX-License-Identifier: Apache-2.0
//
// Linker maps and what they add up to.
#include "compiler/firmware/size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rush::firmware {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

constexpr const char* kMap = R"(
Discarded input sections

 .text.unused   0x0000000000000000       0x40 /cache/core.open.o

Memory Configuration

Linker script and memory map

LOAD /cache/core.open.o

.vectors        0x0000000010000000       0x40
 *(.vectors)
 .vectors       0x0000000010000000       0x40 /cache/ab/startup.startup.o
                0x0000000010000000                rush_vectors

.text           0x0000000011000000      0x500
 *(.text .text.*)
 .text.rush_open
                0x0000000011000000      0x100 /cache/ab/core.open.o
                0x0000000011000000                rush_open
 .text.short    0x0000000011000100       0x20 /cache/cd/kernel.clamp_mve.o
 *fill*         0x0000000011000120        0x4
 .text._ZN4rush11clamp_writeEv
                0x0000000011000124       0x1c /cache/cd/kernel.clamp_extents.o
 .text          0x0000000011000140       0x20 /usr/lib/libc.a(lib_a-memcpy.o)
 .text.memset   0x0000000011000160       0x10 /usr/lib/libc.a(libc_a-memset.o)
 .text.firmware_main
                0x0000000011000170       0x50 /cache/ef/harness.harness.o
 .rodata.kImage
                0x00000000110001c0      0x280 /cache/ef/model.model.o
 .rodata.rush_instance
                0x0000000011000440       0x24 /cache/ef/memory.instance.o

.stack          0x0000000031000000     0x4000
                0x0000000031000000                __stack_limit = .

.data           0x0000000031004000        0x8 load address 0x0000000011000464
 .data.x        0x0000000031004000        0x8 /cache/ab/core.open.o

.bss            0x0000000031004008      0x100
 .bss.line      0x0000000031004008       0xa0 /cache/ef/harness.harness.o
 .bss._ZN7contextE
                0x00000000310040a8       0x34 /cache/ef/memory.instance.o

.memory.ram     0x00000000310040e0      0x580
 .memory.ram.00.guard
                0x00000000310040e0       0x40 /cache/ef/memory.instance.o
 .memory.ram.01.region
                0x0000000031004120      0x500 /cache/ef/memory.instance.o
 .memory.ram.02.guard
                0x0000000031004620       0x40 /cache/ef/memory.instance.o

.comment        0x0000000000000000       0x33
 .comment       0x0000000000000000       0x33 /cache/ef/model.model.o
)";

TEST(LinkerMap, ReadsKeptSections) {
  const auto map = parse_linker_map(kMap);
  ASSERT_EQ(map.size(), 17u);
  EXPECT_EQ(map[1].output, ".text");
  EXPECT_EQ(map[1].input, ".text.rush_open");
  EXPECT_EQ(map[1].address, 0x11000000u);
  EXPECT_EQ(map[1].bytes, 0x100u);
  EXPECT_EQ(map[1].object, "/cache/ab/core.open.o");
  EXPECT_EQ(map[3].input, "*fill*");
  EXPECT_EQ(map[3].object, "");
  EXPECT_EQ(map[5].object, "/usr/lib/libc.a(lib_a-memcpy.o)");
}

TEST(Size, TellsTheProductFromTheHarness) {
  const SizeReport report = measure_map(parse_linker_map(kMap));
  EXPECT_EQ(report.vector_bytes, 0x40u);
  EXPECT_EQ(report.startup_bytes, 0u);
  EXPECT_EQ(report.core_bytes, 0x100u + 8);  // code, and the initial value of its data
  EXPECT_EQ(report.kernel_bytes, 0x20u + 0x1c);
  EXPECT_EQ(report.model_bytes, 0x280u + 0x24);
  EXPECT_EQ(report.library_bytes, 0x30u);
  EXPECT_EQ(report.padding_bytes, 4u);
  EXPECT_EQ(report.harness_bytes, 0x50u);
  EXPECT_EQ(report.flash_bytes, 0x40u + 0x108 + 0x3c + 0x2a4 + 0x30 + 4);
  EXPECT_THAT(report.library, ElementsAre(Pair("libc memcpy", 0x20u), Pair("libc memset", 0x10u)));
  EXPECT_THAT(report.kernels, ElementsAre(Pair("clamp_extents", 0x1cu), Pair("clamp_mve", 0x20u)));
}

TEST(Size, RamIsStaticsAndRegionsWithoutGuards) {
  const SizeReport report = measure_map(parse_linker_map(kMap));
  EXPECT_EQ(report.region_bytes, 0x500u);
  EXPECT_EQ(report.static_bytes, 8u + 0x34);
  EXPECT_EQ(report.ram_bytes, 0x500u + 8 + 0x34);
}

}  // namespace
}  // namespace rush::firmware
