// SPDX-License-Identifier: Apache-2.0
//
// One small program, a clamp, built and run on every emulated board: the whole way from an image to outputs, sizes
// and costs. What the outputs must be is computed here, by the formula.
#include "compiler/firmware/run_firmware.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/emit/emit.h"
#include "compiler/emit/sources.h"
#include "compiler/firmware/process.h"
#include "compiler/firmware/size.h"
#include "compiler/ir/diagnostic.h"
#include "compiler/plan/plan.h"
#include "ops/clamp/clamp.h"
#include "ops/op_def.h"
#include "tests/support/user_error.h"

namespace rush::firmware {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uint32_t kRows = 10;
constexpr uint32_t kRowBytes = 64;
constexpr uint32_t kBytes = kRows * kRowBytes;

Buffer map(const std::string& name, uint32_t bytes) {
  Buffer buffer;
  buffer.name = name;
  buffer.bytes = bytes;
  buffer.alignment = 16;
  return buffer;
}

ProgramPort port(const std::string& name, int buffer) {
  ProgramPort port;
  port.name = name;
  port.buffer = BufferId{buffer};
  port.type.dtype = DType::kInt8;
  port.type.shape = {1, kRows, kRowBytes};
  port.exported_dtype = DType::kInt8;
  port.exported_shape = port.type.shape;
  port.dim_order = {0, 1, 2};
  return port;
}

/// out = clamp(in, -20, 31) over 10 rows of 64; `spare_bytes` more of arena.
Program clamp_program(Isa isa, uint32_t spare_bytes = 0) {
  Program program;
  program.isa = isa;
  program.buffers = {map("in", kBytes + spare_bytes), map("out", kBytes)};
  ProgramStep step;
  step.family = find_kernel_family("clamp_s8");
  step.params = params_bytes(
      ClampParams{whole_map(kRowBytes, kRows), whole_map(kRowBytes, kRows), kRows, 0, kRowBytes, {-20, 31}});
  step.operands = {{BufferId{0}, 0}, {BufferId{1}, 0}};
  step.rows = kRows;
  step.name = "clamp";
  program.steps = {step};
  program.chains = {Chain{}};
  Entry entry;
  entry.name = "main";
  entry.chain_count = 1;
  entry.inputs = {port("x", 0)};
  entry.outputs = {port("y", 1)};
  program.entries = {entry};
  plan_memory(program);
  return program;
}

std::vector<uint8_t> ramp(size_t bytes) {
  std::vector<uint8_t> values(bytes);
  for (size_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>(i * 7);
  return values;
}

std::vector<uint8_t> clamped(std::vector<uint8_t> values) {
  for (uint8_t& value : values) value = static_cast<uint8_t>(std::clamp<int>(static_cast<int8_t>(value), -20, 31));
  return values;
}

void write_directory(const std::filesystem::path& directory, const std::vector<uint8_t>& image,
                     const std::string& target) {
  write_file(directory / "model.rush", {image.begin(), image.end()});
  write_file(directory / "model.h", emit_header(image));
  write_file(directory / "model.cpp", emit_source(image));
  write_file(directory / "report.json", "{\"target\": \"" + target + "\"}");
}

class Firmware : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_tool("arm-none-eabi-g++") || !has_tool("qemu-system-arm")) GTEST_SKIP() << "no cross compiler or emulator";
  }

  BuildRequest request(const std::string& core, const std::string& board, Compiler compiler = Compiler::kGcc) {
    const Target target = load_target(core);
    write_directory(directory_.path(), emit_image(clamp_program(target.isa)), core);
    return {directory_.path(), target_of(directory_.path()), load_board(board), compiler};
  }

  TemporaryDirectory directory_;
};

struct Place {
  const char* core;
  const char* board;
};

class OnBoard : public Firmware, public ::testing::WithParamInterface<Place> {};

TEST_P(OnBoard, RunsEveryInferenceInTheFile) {
  const std::vector<uint8_t> inputs = ramp(3 * kBytes);
  const BoardRun run = run_on_board(request(GetParam().core, GetParam().board), inputs);
  EXPECT_EQ(run.inferences, 3u);
  EXPECT_EQ(run.outputs, clamped(inputs));
  const SizeReport size = measure_firmware(directory_.path());
  EXPECT_LE(run.stack_bytes, size.stack_bytes);
  EXPECT_LE(size.core_bytes, 4096u);
}

INSTANTIATE_TEST_SUITE_P(Places, OnBoard,
                         ::testing::Values(Place{"cortex-m0", "microbit"}, Place{"cortex-m0plus", "mps2-an385"},
                                           Place{"cortex-m3", "mps2-an385"}, Place{"cortex-m4", "mps2-an386"},
                                           Place{"cortex-m7", "mps2-an500"}, Place{"cortex-m23", "mps2-an505"},
                                           Place{"cortex-m33", "mps2-an505"}, Place{"cortex-m35p", "mps2-an505"},
                                           Place{"cortex-m55", "mps3-an547"}, Place{"cortex-m85", "mps3-an547"}),
                         [](const auto& info) {
                           std::string name = std::string(info.param.core) + "_on_" + info.param.board;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_F(Firmware, ClangBuildsTheSame) {
  if (!has_tool("clang++-19")) GTEST_SKIP() << "no clang";
  const std::vector<uint8_t> inputs = ramp(kBytes);
  EXPECT_EQ(run_on_board(request("cortex-m55", "mps3-an547", Compiler::kClang), inputs).outputs, clamped(inputs));
}

TEST_F(Firmware, IsBuiltAgainOnlyWhenSomethingChanged) {
  const BuildRequest first = request("cortex-m4", "mps2-an386");
  EXPECT_TRUE(build_firmware(first).fresh);
  EXPECT_FALSE(build_firmware(first).fresh);
  const Program wider = clamp_program(first.target.isa, 64);
  write_directory(directory_.path(), emit_image(wider), "cortex-m4");
  EXPECT_TRUE(build_firmware(first).fresh);
}

TEST_F(Firmware, CostsAreCountedAndRepeatable) {
  const BuildRequest m55 = request("cortex-m55", "mps3-an547");
  const Cost cost = cost_of_inference(m55);
  EXPECT_GT(cost.profile.instructions, kBytes / 16 * 4);  // load, minimum, maximum, store of 16 values
  EXPECT_LT(cost.profile.instructions, kBytes * 4);
  EXPECT_NEAR(cost.milliseconds, cost.profile.cycles / 400e3, 1e-9);
  EXPECT_EQ(cost_of_inference(m55).profile.instructions, cost.profile.instructions);
}

TEST_F(Firmware, StepsAddUpToTheInference) {
  const BuildRequest m4 = request("cortex-m4", "mps2-an386");
  const std::vector<StepCost> steps = cost_of_steps(m4);
  ASSERT_EQ(steps.size(), 1u);
  const Profile whole = cost_of_inference(m4).profile;
  EXPECT_EQ(steps[0].bands, 1u);
  EXPECT_LE(steps[0].cost.instructions, whole.instructions);
  EXPECT_GT(steps[0].cost.instructions, whole.instructions * 9 / 10);
  EXPECT_NEAR(steps[0].cost.cycles, whole.cycles, whole.cycles / 10);
}

TEST_F(Firmware, KernelsForSizeAreCompiledForSize) {
  BuildRequest m4 = request("cortex-m4", "mps2-an386");
  build_firmware(m4);
  m4.opt = Opt::kSize;
  EXPECT_TRUE(build_firmware(m4).fresh);
}

TEST_F(Firmware, ImageOfAnotherClassIsRefused) {
  BuildRequest mismatched = request("cortex-m3", "mps3-an547");
  mismatched.target = load_target("cortex-m55");
  EXPECT_THAT(user_error([&] { build_firmware(mismatched); }),
              HasSubstr("holds an image for the scalar class of cores, and cortex-m55 is of the mve class\n"
                        "  fix: compile the model with --target cortex-m55"));
}

TEST_F(Firmware, ModelThatDoesNotFitTheBoardIsRefused) {
  const BuildRequest small = request("cortex-m0", "microbit");
  write_directory(directory_.path(), emit_image(clamp_program(Isa::kScalar, 20000)), "cortex-m0");
  EXPECT_THAT(user_error([&] { build_firmware(small); }),
              StartsWith("error: the firmware does not fit microbit: its RAM is "));
}

TEST_F(Firmware, DirectoryWithoutATargetIsRefused) {
  write_file(directory_.path() / "report.json", "{}");
  EXPECT_THAT(user_error([&] { target_of(directory_.path()); }), HasSubstr("report.json does not say its target\n"));
}

Record record(Isa isa) {
  Record record;
  record.image = emit_image(clamp_program(isa), {.full_kernel_table = true});
  record.input = ramp(kBytes);
  record.expected = clamped(record.input);
  return record;
}

TEST_F(Firmware, PlayerTellsWhatHolds) {
  const PlayRequest m4{load_target("cortex-m4"), load_board("mps2-an386"), Compiler::kGcc};
  const Record good = record(Isa::kDsp);
  Record again = good;
  again.image.clear();
  again.band_by_band = true;
  Record wrong = good;
  wrong.expected[5] ^= 1;
  Record damaged = good;
  damaged.image[50] ^= 4;
  damaged.expected_status = RUSH_BAD_CRC;
  damaged.memory = Record::Memory{1, {2 * kBytes}};
  Record starved = good;
  starved.expected_status = RUSH_REGION_TOO_SMALL;
  starved.memory = Record::Memory{1, {kBytes}};
  const auto results = play(m4, {good, again, wrong, damaged, starved});
  ASSERT_EQ(results.size(), 5u);
  EXPECT_TRUE(results[0].ok);
  EXPECT_TRUE(results[1].ok);
  EXPECT_FALSE(results[2].ok);
  EXPECT_EQ(results[2].outcome.differing_bytes, 1u);
  EXPECT_EQ(results[2].outcome.first_difference, 5u);
  EXPECT_TRUE(results[3].ok);
  EXPECT_TRUE(results[4].ok);
}

TEST_F(Firmware, PlayerSaysWhatDoesNotFit) {
  const PlayRequest microbit{load_target("cortex-m0"), load_board("microbit"), Compiler::kGcc};
  Record large = record(Isa::kScalar);
  large.memory = Record::Memory{1, {64 * 1024}};
  large.expected_status = kDoesNotFit;
  const auto results = play(microbit, {record(Isa::kScalar), large});
  EXPECT_TRUE(results[0].ok);
  EXPECT_EQ(results[1].outcome.status, kDoesNotFit);
}

TEST_F(Firmware, PlayerSplitsRecordsThatExceedTheBoard) {
  const PlayRequest microbit{load_target("cortex-m0"), load_board("microbit"), Compiler::kGcc};
  const std::vector<Record> many(100, record(Isa::kScalar));  // about 190 KiB for 128
  std::vector<bool> ok;
  for (const RecordResult& result : play(microbit, many)) ok.push_back(result.ok);
  EXPECT_EQ(ok.size(), 100u);
  EXPECT_THAT(ok, Each(true));
}

TEST_F(Firmware, PlayedRecordsHaveCosts) {
  const PlayRequest m4{load_target("cortex-m4"), load_board("mps2-an386"), Compiler::kGcc};
  const Record good = record(Isa::kDsp);
  Record damaged = good;
  damaged.image[50] ^= 4;
  damaged.memory = Record::Memory{1, {2 * kBytes}};
  const auto costs = cost_of_records(m4, {good, damaged, good});
  ASSERT_EQ(costs.size(), 3u);
  EXPECT_EQ(costs[0].instructions, costs[2].instructions);
  EXPECT_GT(costs[0].instructions, kBytes / 4);
  EXPECT_EQ(costs[1].instructions, 0u);
}

}  // namespace
}  // namespace rush::firmware
