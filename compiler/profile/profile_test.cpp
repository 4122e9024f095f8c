// SPDX-License-Identifier: Apache-2.0
#include "compiler/profile/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "compiler/emit/emit.h"
#include "compiler/emit/write_model.h"
#include "compiler/firmware/process.h"
#include "compiler/firmware/run_firmware.h"
#include "compiler/ir/diagnostic.h"
#include "tests/support/hand_programs.h"
#include "tests/support/user_error.h"

namespace rush {
namespace {

using ::testing::HasSubstr;

// As runtime/profile_test.cpp has it.
const std::string kLog =
    "#rush profile 1 c0ffee01 000f4240 02dc6c00 00000002\n"
    "#rush step 000000 00000004 00000000 0000000c\n"
    "#rush step 000001 00000004 00000001 23456788\n";
const std::string kEnd = "#rush end 31e4b47b\n";

std::string error_of(const std::string& capture) {
  return user_error([&] { parse_profile_log(capture, "uart.txt"); });
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(ProfileLog, IsFoundAmongOtherLines) {
  const std::string capture = "boot\r\n[12.5] " + replaced(kLog, "\n", "\r\n") + "mark\n" + kEnd + "ready\n#rus";
  const ProfileLog log = parse_profile_log(capture, "uart.txt");
  EXPECT_EQ(log.image_crc, 0xc0ffee01u);
  EXPECT_EQ(log.timer_hz, 1000000u);
  EXPECT_EQ(log.core_hz, 48000000u);
  EXPECT_EQ(log.runs, 2u);
  ASSERT_EQ(log.steps.size(), 2u);
  EXPECT_EQ(log.steps.at(0).ticks, 12u);
  EXPECT_EQ(log.steps.at(1).ticks, 0x123456788u);
  EXPECT_EQ(log.steps.at(1).bands, 4u);
}

TEST(ProfileLog, TheLastWholeOneCounts) {
  const ProfileLog log = parse_profile_log(kLog + kEnd + kLog, "uart.txt");
  EXPECT_EQ(log.steps.size(), 2u);
}

TEST(ProfileLog, DamageIsNamed) {
  EXPECT_THAT(error_of(""), HasSubstr("uart.txt holds no whole profile\n"));
  EXPECT_THAT(error_of(kLog), HasSubstr("uart.txt holds no whole profile\n"));
  EXPECT_THAT(error_of(kEnd), HasSubstr("uart.txt:1: the line does not belong here\n"));
  EXPECT_THAT(error_of(replaced(kLog, "0000000c", "0000000d") + kEnd),
              HasSubstr("uart.txt:4: the lines of the log before"));
  EXPECT_THAT(error_of(replaced(kLog, "000001 ", "00xx01 ") + kEnd), HasSubstr("uart.txt:3: the line is damaged"));
  EXPECT_THAT(error_of(replaced(kLog, "profile 1", "profile 2") + kEnd), HasSubstr("format 2, not 1"));
  EXPECT_THAT(error_of(replaced(kLog, "00000002", "00000000") + kEnd), HasSubstr("must not be 0"));
}

class ProfileOfAModel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!firmware::has_tool("arm-none-eabi-g++") || !firmware::has_tool("qemu-system-arm"))
      GTEST_SKIP() << "no cross compiler or emulator";
    Program program = clamp_chain_program(Isa::kMve);
    program.target = "cortex-m55";
    program.steps[0].origin.layer = "first";
    program.steps[0].macs = 960;
    program.steps[1].name = program.steps[1].origin.layer = "second";
    for (Buffer& buffer : program.buffers) buffer.type = TensorType{DType::kInt8, {1, kClampRows, kClampRowBytes}, {}};
    write_model(program, emit_image(program), {.directory = directory_.path(), .made_from = "hand"});
  }

  firmware::BuildRequest request() const {
    return {directory_.path(), load_target("cortex-m55"), load_board("mps3-an547"), firmware::Compiler::kGcc};
  }

  firmware::TemporaryDirectory directory_;
};

TEST_F(ProfileOfAModel, CountsEachLayerOverItsBands) {
  const ModelProfile profile = profile_on_board(request());
  const std::vector<firmware::StepCost> steps = firmware::cost_of_steps(request());
  ASSERT_EQ(profile.layers.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(profile.layers[i].bands, 4u);
    EXPECT_EQ(profile.layers[i].instructions, steps[i].cost.instructions);
    EXPECT_EQ(profile.layers[i].bytes_moved, 48u);
    EXPECT_EQ(profile.layers[i].regions, std::vector<std::string>{"arena"});
  }
  EXPECT_EQ(profile.layers[0].layer, "first");
  EXPECT_EQ(profile.layers[1].layer, "second");
  const auto json = nlohmann::json::parse(profile_json(profile));
  EXPECT_NEAR(json["milliseconds"].get<double>(), profile.cycles() / 400e3, 1e-9);
  EXPECT_NEAR(json["layers"][0]["part_of_limit"].get<double>(), 960 / profile.layers[0].cycles / 8, 1e-9);
  EXPECT_FALSE(json["layers"][1].contains("part_of_limit"));
}

// The emulated clock of the firmware's own timer goes on by 32 ns an instruction.
TEST_F(ProfileOfAModel, TheDevicesOwnLogAgrees) {
  const ProfileLog log = parse_profile_log(firmware::profile_log_of(request()), "profile.log");
  const ModelProfile measured = profile_from_log(directory_.path(), load_target("cortex-m55"), log),
                     counted = profile_on_board(request());
  ASSERT_EQ(measured.layers.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const LayerProfile &own = measured.layers[i], &from_outside = counted.layers[i];
    const double instructions = own.milliseconds * 1e6 / 32;
    EXPECT_EQ(own.bands, 4u);
    EXPECT_NEAR(own.cycles, own.milliseconds * 32000, 1e-6) << "the board's clock";
    EXPECT_GE(instructions, static_cast<double>(*from_outside.instructions));
    EXPECT_LE(instructions, static_cast<double>(*from_outside.instructions) + 4 * 40) << "reading the timer";
    EXPECT_FALSE(own.instructions);
  }
}

TEST_F(ProfileOfAModel, ALogOfAnotherImageIsRefused) {
  const ProfileLog log = parse_profile_log(kLog + kEnd, "uart.txt");
  EXPECT_THAT(user_error([&] { profile_from_log(directory_.path(), load_target("cortex-m55"), log); }),
              HasSubstr("the log is of an image with CRC c0ffee01"));
}

}  // namespace
}  // namespace rush
