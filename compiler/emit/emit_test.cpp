// SPDX-License-Identifier: Apache-2.0
//
// What an image holds, read back field by field; what a damaged one is told; and the C sources made from it.
#include "compiler/emit/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "compiler/emit/image_reader.h"
#include "compiler/emit/names.h"
#include "compiler/emit/show.h"
#include "compiler/emit/sources.h"
#include "compiler/plan/choose.h"
#include "ops/clamp/clamp.h"
#include "ops/full_table.h"
#include "tests/support/hand_programs.h"
#include "tests/support/raw_instance.h"

namespace rush {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

TEST(EmitImage, Header) {
  const ImageReader image(emit_image(clamp_chain_program(Isa::kDsp)));
  EXPECT_EQ(image.isa(), Isa::kDsp);
  EXPECT_EQ(image.header().version_major, 2);
  EXPECT_EQ(image.header().image_bytes, image.bytes().size());
  EXPECT_EQ(image.header().image_bytes % 4, 0u);
  EXPECT_EQ(image.header().max_chain_steps, 2u);
  EXPECT_GE(image.header().stack_bytes, 352u);
}

TEST(EmitImage, SectionsInOrderAndAligned) {
  const ImageReader image(emit_image(clamp_program(Isa::kScalar)));
  std::vector<int> kinds;
  for (const ImageSection& section : image.sections()) {
    kinds.push_back(section.kind);
    EXPECT_EQ(section.offset % 4, 0u);
  }
  EXPECT_THAT(kinds, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
}

TEST(EmitImage, StepsChainsAndLinks) {
  const ImageReader image(emit_image(clamp_chain_program(Isa::kScalar)));
  ASSERT_EQ(image.steps().size(), 2u);
  EXPECT_EQ(image.family(image.steps()[1]).name, "clamp_s8");
  EXPECT_EQ(image.steps()[1].rows, kClampRows);
  const auto& params = *reinterpret_cast<const ClampParams*>(image.params(image.steps()[1]));
  EXPECT_EQ(params.range.max, kClampMax);
  ASSERT_EQ(image.chains().size(), 1u);
  EXPECT_EQ(image.chains()[0].step_count, 2);
  ASSERT_EQ(image.links().size(), 2u);
  EXPECT_EQ(image.links()[0].producer[0], kNoProducer);
  EXPECT_EQ(image.links()[1].producer[0], 0);
  EXPECT_EQ(image.links()[1].producer[1], kNoProducer);
  EXPECT_EQ(image.links()[1].row_stride[0], 1);
  EXPECT_EQ(image.links()[1].row_lead[0], 0);
}

TEST(EmitImage, OperandsRegionsAndConstants) {
  const ImageReader image(emit_image(accumulator_program(Isa::kScalar)));
  ASSERT_EQ(image.regions().size(), 2u);
  EXPECT_EQ(image.string(image.regions()[1].name), "state");
  EXPECT_EQ(image.regions()[1].kind, 2);
  EXPECT_THAT(image.operands(image.steps()[0]), ElementsAre(0x10000000u, 0x20000000u, 0x10000018u));
  const uint32_t initial = image.operands(image.steps()[2])[0];
  EXPECT_EQ(initial >> 28, 0u);
  EXPECT_EQ(initial % 4, 0u);
  for (int i = 0; i < kAccumulatorSize; ++i) EXPECT_EQ(image.bytes()[initial + i], kAccumulatorStart);
}

TEST(EmitImage, EqualParametersAreKeptOnce) {
  const ImageReader image(emit_image(accumulator_program(Isa::kScalar)));
  EXPECT_EQ(image.steps()[1].params, image.steps()[2].params);
  EXPECT_NE(image.steps()[0].params, image.steps()[1].params);
}

TEST(EmitImage, EntriesAndPorts) {
  const ImageReader image(emit_image(accumulator_program(Isa::kScalar)));
  EXPECT_EQ(image.find_entry("step"), 0u);
  EXPECT_EQ(image.find_entry("init"), 1u);
  EXPECT_EQ(image.find_entry("stop"), std::nullopt);
  EXPECT_EQ(image.inputs(1).size() + image.outputs(1).size(), 0u);
  EXPECT_EQ(image.outputs(0).at(0).name, "y");
  EXPECT_EQ(image.outputs(0).at(0).border(), std::nullopt);
}

TEST(EmitImage, PortsKeepTheExactScale) {
  const ImageReader image(emit_image(clamp_program(Isa::kScalar)));
  const ImagePort x = image.inputs(0).at(0);
  EXPECT_EQ(x.memory_shape(), (Shape{1, 4, 2, 3}));
  EXPECT_EQ(x.exported_shape, (Shape{1, 3, 4, 2}));
  EXPECT_EQ(x.exported_dtype, DType::kFloat32);
  ASSERT_TRUE(x.border());
  EXPECT_EQ(x.border()->scale.at(0), 0.1);  // not 0.1f
  EXPECT_EQ(x.border()->zero_point.at(0), -3);
  EXPECT_EQ(x.border()->min, -127);
}

TEST(EmitImage, LayersUnlessLeftOut) {
  const Program program = clamp_program(Isa::kScalar);
  const ImageReader full(emit_image(program)), bare(emit_image(program, {.debug = false}));
  EXPECT_EQ(full.origin(0), (Origin{"layers.clamp_s8", "model.py:7"}));
  EXPECT_EQ(bare.origin(0).layer, "step 0");
  EXPECT_LT(bare.bytes().size(), full.bytes().size());
}

TEST(EmitImage, NamesMayLieBehindTheImage) {
  const Program program = clamp_program(Isa::kScalar);
  const std::vector<uint8_t> bare = emit_image(program, {.debug = false});
  std::vector<uint8_t> file = with_names(bare, program);
  const ImageReader image(file);
  EXPECT_EQ(image.origin(0), (Origin{"layers.clamp_s8", "model.py:7"}));
  EXPECT_THAT(image.bytes(), ElementsAreArray(bare));
  EXPECT_EQ(names_behind(file).size(), program.steps.size());
  for (size_t bytes = bare.size(); bytes < file.size(); ++bytes)
    EXPECT_TRUE(names_behind(std::span(file).first(bytes)).empty()) << bytes;
  file[bare.size() + 8] = 0xff;  // more steps than there are strings
  EXPECT_TRUE(names_behind(file).empty());
  EXPECT_EQ(ImageReader(file).origin(0).layer, "step 0");
}

TEST(EmitImage, NamesOfAnotherImageAreNone) {
  const std::vector<uint8_t> file = with_names(emit_image(clamp_program(Isa::kScalar)), clamp_program(Isa::kScalar));
  std::vector<uint8_t> other = emit_image(accumulator_program(Isa::kScalar));
  const size_t image_bytes = ImageReader(file).bytes().size();
  other.insert(other.end(), file.begin() + static_cast<std::ptrdiff_t>(image_bytes), file.end());
  EXPECT_TRUE(names_behind(other).empty());
}

TEST(EmitImage, SameProgramSameBytes) {
  EXPECT_EQ(emit_image(accumulator_program(Isa::kMve)), emit_image(accumulator_program(Isa::kMve)));
}

TEST(EmitImage, NamesTheStepThatOverrunsItsBuffer) {
  Program program = clamp_program(Isa::kScalar);
  program.buffers[0].bytes = 23;
  try {
    emit_image(program);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(), "step \"clamp_s8_step\" (clamp_s8): operand 0 touches 24 bytes at 0 of a buffer of 23");
  }
}

TEST(EmitImage, RefusesRegionsThatAreTooSmall) {
  Program program = clamp_program(Isa::kScalar);
  program.regions[0].bytes = 48;
  EXPECT_THROW(emit_image(program), InternalError);
}

TEST(KernelTable, IsWhatTheDeviceTablesSay) {
  const std::vector<uint16_t> all = kernel_ids({}, {.full_kernel_table = true});
  EXPECT_EQ(kernel_table_id(Isa::kScalar, all), full_table_id(Isa::kScalar));
  EXPECT_EQ(kernel_table_id(Isa::kMve, all), full_table_id(Isa::kMve));
  EXPECT_NE(full_table_id(Isa::kScalar), full_table_id(Isa::kMve));
}

TEST(KernelTable, HoldsWhatIsUsed) {
  EXPECT_THAT(kernel_ids(accumulator_program(Isa::kScalar), {}), ElementsAre(8, 25));
}

/// The message of the UserError, or empty.
std::string refusal(std::vector<uint8_t> image) {
  try {
    ImageReader reader(image, "model.rush");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ImageReader, SaysWhatIsWrong) {
  const std::vector<uint8_t> good = emit_image(clamp_program(Isa::kScalar));
  const auto spoiled = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> image = good;
    image[at] = value;
    return image;
  };
  EXPECT_EQ(refusal(good), "");
  EXPECT_THAT(refusal({}), HasSubstr("model.rush is not a Rushlight image"));
  EXPECT_THAT(refusal(spoiled(0, 'X')), HasSubstr("model.rush is not a Rushlight image"));
  EXPECT_THAT(refusal(spoiled(8, 7)), HasSubstr("model.rush has image format 7.0, this rushlight reads 2.x"));
  EXPECT_THAT(refusal({good.begin(), good.begin() + 100}),
              HasSubstr("model.rush is truncated: 100 bytes of " + std::to_string(good.size())));
  EXPECT_THAT(refusal(spoiled(200, 0x5a)), HasSubstr("model.rush is damaged: its CRC-32 is "));
}

TEST(ImageReader, RefusesWhatTheDeviceRefuses) {
  std::vector<uint8_t> image = emit_image(clamp_program(Isa::kScalar));
  const ImageReader good(image);
  const auto step_at = reinterpret_cast<const uint8_t*>(good.steps().data()) - good.bytes().data();
  image[static_cast<size_t>(step_at) + 2] = 3;
  seal_image(image);
  EXPECT_THAT(refusal(image),
              HasSubstr("model.rush has a step whose kernel, parameters, operands or chain do not hold"));
}

TEST(ImageReader, RefusesUnknownKernels) {
  std::vector<uint8_t> image = emit_image(clamp_program(Isa::kScalar));
  const ImageReader good(image);
  const auto id_at = reinterpret_cast<const uint8_t*>(good.kernel_ids().data()) - good.bytes().data();
  image[static_cast<size_t>(id_at)] = 0xee;
  seal_image(image);
  EXPECT_THAT(refusal(image), HasSubstr("model.rush uses kernel 238, which this rushlight does not know"));
}

TEST(ImageReader, RefusesShapesThatDoNotFit) {
  std::vector<uint8_t> image = emit_image(clamp_program(Isa::kScalar));
  const ImageReader good(image);
  const auto io_at = reinterpret_cast<const uint8_t*>(good.io().data()) - good.bytes().data();
  image[static_cast<size_t>(io_at) + offsetof(rush_io, dims)] = 2;
  seal_image(image);
  EXPECT_THAT(refusal(image), HasSubstr("model.rush has an input or output whose shape does not fit its bytes"));
}

TEST(ImageReader, RefusesRowsThatNoInputGives) {
  Program program = clamp_program(Isa::kScalar);
  make_line_fed(program, 0);
  std::vector<uint8_t> image = emit_image(program);
  ASSERT_EQ(refusal(image), "");
  const ImageReader good(image);
  const auto io_at = reinterpret_cast<const uint8_t*>(good.io().data()) - good.bytes().data();
  image[static_cast<size_t>(io_at) + offsetof(rush_io, flags)] &= static_cast<uint8_t>(~RUSH_IO_LINE_FED);
  seal_image(image);
  EXPECT_THAT(refusal(image), HasSubstr("model.rush has steps that wait for other rows than those of an input that is "
                                        "fed row by row"));
}

TEST(Show, TextAndJsonDescribeTheImage) {
  const std::vector<uint8_t> image = emit_image(clamp_chain_program(Isa::kMve));
  const std::string text = show_image(image);
  EXPECT_THAT(text, HasSubstr("isa mve"));
  EXPECT_THAT(text, HasSubstr("clamp_s8_mve"));
  EXPECT_THAT(text, HasSubstr("\"layers.clamp_s8\" (model.py:7) by 1"));
  const auto json = nlohmann::json::parse(show_image_json(image));
  EXPECT_EQ(json["header"]["version"], "2.0");
  EXPECT_EQ(json["steps"].size(), 2u);
  EXPECT_EQ(json["steps"][0]["operands"][0]["bytes"], 24);
  EXPECT_EQ(json["entries"][0]["inputs"][0]["scale"], 0.1);
  EXPECT_EQ(json["labels"][1], "light");
  EXPECT_EQ(json["sections"].size(), 13u);
}

class Sources : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(directory_ / name) << text; }
  /// Whether the command, with the include paths of a user's build, compiles a file.
  bool compiles(const std::string& compiler, const std::string& file) const {
    const std::string command = compiler + " -Wall -Wextra -Werror -pedantic-errors -fsyntax-only -I" +
                                directory_.string() + " -I" RUSH_SOURCE_DIR "/runtime/include " +
                                (directory_ / file).string();
    return std::system(command.c_str()) == 0;
  }

  /// Exit code of the program; -1 where it does not compile.
  int run(const std::string& compiler, const std::string& file) const {
    const std::string program = (directory_ / "program").string();
    const std::string command = compiler + " -Wall -Wextra -Werror -pedantic-errors -I" + directory_.string() +
                                " -I" RUSH_SOURCE_DIR "/runtime/include -o " + program + " " +
                                (directory_ / file).string();
    if (std::system(command.c_str()) != 0) return -1;
    return WEXITSTATUS(std::system(program.c_str()));
  }

  const std::filesystem::path directory_ =
      std::filesystem::temp_directory_path() / ("rush_sources_" + std::to_string(::getpid()));
};

TEST_F(Sources, CompileAsCAndAsCpp) {
  const std::vector<uint8_t> image = emit_image(clamp_program(Isa::kMve));
  write("model.h", emit_header(image));
  write("model.cpp", emit_source(image));
  write("user.c",
        "#include \"model.h\"\n"
        "#include \"model.h\"\n"
        "static uint8_t arena[MODEL_ARENA_BYTES];\n"
        "static uint32_t context[MODEL_CONTEXT_BYTES / 4];\n"
        "static const uint32_t shape[MODEL_INPUT0_RANK] = MODEL_INPUT0_SHAPE;\n"
        "int main(void) {\n"
        "  float real = (5 - MODEL_OUTPUT0_ZERO_POINT) * MODEL_OUTPUT0_SCALE * MODEL_INPUT0_INVERSE_SCALE;\n"
        "  rush_memory memory = {arena, sizeof arena};\n"
        "  if (rush_open((rush_context*)context, sizeof context, &model, &memory, MODEL_REGION_COUNT)) return 1;\n"
        "  return model_labels[0][0] == 'd' && shape[1] == 3 && real > 0 && rush_run((rush_context*)context, "
        "MODEL_ENTRY_MAIN);\n"
        "}\n");
  EXPECT_TRUE(compiles("cc -std=c99", "user.c"));
  EXPECT_TRUE(compiles("c++ -std=gnu++14 -fno-exceptions -fno-rtti", "model.cpp"));
}

// Scores with ties, against a stable sort by hand; then more places than labels, and none.
TEST_F(Sources, TheHeaderNamesTheBestClasses) {
  Program program = clamp_program(Isa::kScalar);
  program.labels.resize(program[program.entries[0].outputs[0].buffer].bytes, "more");
  write("model.h", emit_header(emit_image(program)));
  write("top.c",
        "#include \"model.h\"\n"
        "int main(void) {\n"
        "  int8_t scores[MODEL_LABEL_COUNT];\n"
        "  uint16_t top[MODEL_LABEL_COUNT + 2] = {0};\n"
        "  int i;\n"
        "  for (i = 0; i < MODEL_LABEL_COUNT; ++i) scores[i] = -128;\n"
        "  scores[1] = 7, scores[3] = 9, scores[4] = 7;\n"
        "  if (model_top(scores, top, 3) != 3 || top[0] != 3 || top[1] != 1 || top[2] != 4) return 1;\n"
        "  if (model_top(scores, top, 1) != 1 || top[0] != 3 || top[1] != 1) return 2;\n"
        "  if (model_top(scores, top, 0) != 0 || top[0] != 3) return 3;\n"
        "  if (model_top(scores, top, MODEL_LABEL_COUNT + 2) != MODEL_LABEL_COUNT || top[3] != 0) return 4;\n"
        "  return top[4] == 2 && top[MODEL_LABEL_COUNT - 1] == MODEL_LABEL_COUNT - 1 ? 0 : 5;\n"
        "}\n");
  EXPECT_EQ(run("cc -std=c99", "top.c"), 0);
  EXPECT_EQ(run("c++ -x c++ -std=gnu++14", "top.c"), 0);
}

TEST_F(Sources, ArenasMayBeLargerButNotSmaller) {
  const std::vector<uint8_t> image = emit_image(accumulator_program(Isa::kScalar));
  write("model.h", emit_header(image));
  write("model.cpp", emit_source(image));
  EXPECT_TRUE(compiles("c++ -std=gnu++14 -DMODEL_STATE_BYTES=22", "model.cpp"));
  EXPECT_FALSE(compiles("c++ -std=gnu++14 -DMODEL_STATE_BYTES=20 2>/dev/null", "model.cpp"));
}

TEST(SourceText, HoldsTheImage) {
  const std::vector<uint8_t> image = emit_image(clamp_program(Isa::kScalar));
  const std::string source = emit_source(image, {.symbol = "wake_word", .made_from = "wake.pt2"});
  EXPECT_THAT(source, HasSubstr("// Made by `rushlight compile` from wake.pt2; do not edit."));
  EXPECT_THAT(source, HasSubstr("#include \"wake_word.h\""));
  EXPECT_THAT(source, HasSubstr("= {\n0x48535552,"));
  EXPECT_THAT(source, HasSubstr("{rush::clamp_s8_scalar, &rush::clamp_s8_contract}"));
  EXPECT_THAT(source,
              HasSubstr("const rush_model wake_word = {kImage, " + std::to_string(image.size()) + ", &kTable};"));
  EXPECT_THAT(emit_header(image, {.symbol = "wake_word"}), HasSubstr("#define WAKE_WORD_ARENA_BYTES 49"));
}

TEST(SourceText, NeedsAnIdentifier) {
  const std::vector<uint8_t> image = emit_image(clamp_program(Isa::kScalar));
  for (const char* symbol : {"", "2fast", "a-b", "a b"})
    EXPECT_THROW(emit_header(image, {.symbol = symbol}), UserError) << symbol;
}

TEST(SourceText, QuotesLabels) {
  Program program = clamp_program(Isa::kScalar);
  program.labels = {"a\"b\\c?", "\xc3\xa9", "line\nbreak"};
  EXPECT_THAT(emit_source(emit_image(program)),
              HasSubstr("    \"a\\\"b\\\\c\\077\",\n    \"\\303\\251\",\n    \"line\\012break\",\n"));
}

}  // namespace
}  // namespace rush
