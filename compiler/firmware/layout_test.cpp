// SPDX-License-Identifier: Apache-2.0
#include "compiler/firmware/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rush::firmware {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ImageFacts two_regions() {
  ImageFacts facts;
  facts.max_chain_steps = 4;
  facts.regions = {{"arena", 1000}, {"dtcm", 64}};
  facts.entries = {{"main", {}, {}}, {"init", {}, {}}};
  return facts;
}

TEST(Layout, ScriptNamesTheBoardsMemories) {
  const std::string script = linker_script(load_board("mps3-an547"), "SECTIONS\n{\n}\n");
  EXPECT_THAT(script, StartsWith("MEMORY\n{\n"
                                 "  VECTORS : ORIGIN = 0x10000000, LENGTH = 0x80000\n"
                                 "  FLASH : ORIGIN = 0x11000000, LENGTH = 0x200000\n"
                                 "  RAM : ORIGIN = 0x31000000, LENGTH = 0x400000\n"
                                 "  DTCM : ORIGIN = 0x30000000, LENGTH = 0x80000\n"
                                 "}\n"
                                 "STACK_BYTES = 16384;\n"));
  EXPECT_THAT(script, HasSubstr("*(SORT_BY_NAME(.memory.dtcm.*)) . = ALIGN(16); } > DTCM\n"));
}

TEST(Layout, VectorsLieInFlashWithoutAMemoryOfTheirOwn) {
  EXPECT_THAT(linker_script(load_board("microbit"), ""), HasSubstr("REGION_ALIAS(\"VECTORS\", FLASH)\n"));
}

TEST(Layout, RegionsLieBetweenGuardsInTheMemoryOfTheirName) {
  const std::string source = instance_source(two_regions(), load_board("mps3-an547"), "model");
  EXPECT_THAT(source, HasSubstr("section(\".memory.ram.00.guard\")))\nuint8_t guard0[kGuardBytes];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.ram.01.region\")))\nuint8_t region1[1000];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.ram.02.guard\")))\nuint8_t guard1[kGuardBytes];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.dtcm.01.region\")))\nuint8_t region2[64];\n"));
  EXPECT_THAT(source, HasSubstr("uint8_t context[RUSH_CONTEXT_BYTES(4)];\n"));
  EXPECT_THAT(source, HasSubstr("memories[] = {{region1, 1000}, {region2, 64}};\n"));
  EXPECT_THAT(source, HasSubstr("{&model, reinterpret_cast<rush_context*>(context), sizeof context,\n"
                                "                                           memories, 2, guards, 4, 1, 32000000}"));
}

}  // namespace
}  // namespace rush::firmware
