// SPDX-License-Identifier: Apache-2.0
#include "compiler/firmware/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rush::firmware {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

ImageFacts two_regions() {
  ImageFacts facts;
  facts.max_chain_steps = 4;
  facts.regions = {{"arena", 1000, RegionKind::kArena}, {"dtcm", 64, RegionKind::kState}};
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
  const std::string source = instance_source({{"model", two_regions()}}, load_board("mps3-an547"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.ram.00.guard\")))\nuint8_t guard0[kGuardBytes];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.ram.01.region\")))\nuint8_t region0[1000];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.ram.02.guard\")))\nuint8_t guard1[kGuardBytes];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.dtcm.01.region\")))\nuint8_t region1[64];\n"));
  EXPECT_THAT(source, HasSubstr("uint8_t context0[RUSH_CONTEXT_BYTES(4)];\n"));
  EXPECT_THAT(source, HasSubstr("memories0[] = {{region0, 1000}, {region1, 64}};\n"));
  EXPECT_THAT(source,
              HasSubstr("    {&model, reinterpret_cast<rush_context*>(context0), sizeof context0, memories0, 2, "
                        "guards, 4, 1, 32000000, rush_run}};\n"));
}

TEST(Layout, RegionsThatAreTooLargeForTheBoardsMemoryOfTheirNameLieInItsRam) {
  ImageFacts facts = two_regions();
  facts.regions = {{"arena_dtcm", 300 * 1024, RegionKind::kArena},
                   {"weights_dtcm", 300 * 1024, RegionKind::kWeights},
                   {"state_dtcm", 64, RegionKind::kState}};
  const std::string source = instance_source({{"model", facts}}, load_board("mps3-an547"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.dtcm.01.region\")))\nuint8_t region0[307200];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.ram.01.region\")))\nuint8_t region1[307200];\n"));
  EXPECT_THAT(source, HasSubstr("section(\".memory.dtcm.03.region\")))\nuint8_t region2[64];\n"));
}

TEST(Layout, ModelsShareArenasAndNotStates) {
  ImageFacts other = two_regions();
  other.regions = {
      {"arena", 1500, RegionKind::kArena}, {"dtcm", 32, RegionKind::kState}, {"sram", 8, RegionKind::kArena}};
  const std::vector<NamedModel> models = {{"a", two_regions()}, {"b", other}};
  const MemoryPlan plan = share_memory(models);
  EXPECT_THAT(plan.pieces_of, ElementsAre(ElementsAre(0, 1), ElementsAre(0, 2, 3)));
  std::vector<uint32_t> bytes;
  for (const MemoryPlan::Piece& piece : plan.pieces) bytes.push_back(piece.bytes);
  EXPECT_THAT(bytes, ElementsAre(1500, 64, 32, 8));
  const std::string source = instance_source(models, load_board("mps3-an547"));
  EXPECT_THAT(source, HasSubstr("#include \"a.h\"\n#include \"b.h\"\n"));
  EXPECT_THAT(source, HasSubstr("uint8_t region0[1500];\n"));
  EXPECT_THAT(source, HasSubstr("memories0[] = {{region0, 1000}, {region1, 64}};\n"));
  EXPECT_THAT(source, HasSubstr("memories1[] = {{region0, 1500}, {region2, 32}, {region3, 8}};\n"));
  EXPECT_THAT(source, HasSubstr("rush_instance_count = 2;\n"));
}

}  // namespace
}  // namespace rush::firmware
