// SPDX-License-Identifier: Apache-2.0
//
// Profiling through the C API, with a timer that the test turns on.
#include "rushlight/profile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "compiler/emit/emit.h"
#include "compiler/host/host_program.h"
#include "tests/support/hand_programs.h"

namespace rush {
namespace {

uint32_t ticks;

/// Each look at it takes 3 ticks, and it wraps in the middle of the test.
uint32_t ticking() { return ticks += 3; }

void append(void* text, const char* line, uint32_t bytes) { static_cast<std::string*>(text)->append(line, bytes); }

/// Four rows in two steps, a row at a time.
struct Profiled {
  HostProgram program{emit_image(clamp_chain_program(Isa::kScalar))};
  std::vector<rush_step_ticks> steps{2};
  rush_profile profile{ticking, 1000000, 48000000, 0, steps.data()};
};

TEST(Profile, AddsUpTheBandsOfEachStep) {
  Profiled p;
  ticks = 0xfffffff0u;
  ASSERT_EQ(rush_step_count(p.program.context()), 2u);
  for (uint32_t run = 1; run <= 2; ++run) {
    ASSERT_EQ(rush_profile_run(p.program.context(), 0, &p.profile), RUSH_OK);
    EXPECT_EQ(p.profile.runs, run);
    for (const rush_step_ticks& step : p.steps) {
      EXPECT_EQ(step.bands, 4 * run);
      EXPECT_EQ(step.ticks, 12 * run);
    }
  }
}

TEST(Profile, ComputesWhatARunDoes) {
  Profiled p;
  rush_context* context = p.program.context();
  auto* x = static_cast<int8_t*>(rush_input(context, 0, 0));
  const uint32_t bytes = rush_input_info(context, 0, 0)->bytes;
  for (uint32_t i = 0; i < bytes; ++i) x[i] = static_cast<int8_t>(i * 37 - 100);
  ASSERT_EQ(rush_profile_run(context, 0, &p.profile), RUSH_OK);
  const auto* y = static_cast<const int8_t*>(rush_output(context, 0, 0));
  for (uint32_t i = 0; i < bytes; ++i)
    EXPECT_EQ(y[i], std::clamp<int8_t>(static_cast<int8_t>(i * 37 - 100), kClampMin, kClampMax));
}

TEST(Profile, NextStepsAreThoseThatRun) {
  HostProgram program(emit_image(clamp_chain_program(Isa::kScalar)));
  rush_context* context = program.context();
  EXPECT_EQ(rush_next_step(context), RUSH_NO_STEP) << "no run has begun";
  ASSERT_EQ(rush_begin(context, 0), RUSH_OK);
  std::vector<uint32_t> order;
  for (uint32_t step = rush_next_step(context); step != RUSH_NO_STEP; step = rush_next_step(context)) {
    order.push_back(step);
    ASSERT_LE(rush_step(context), RUSH_RUNNING);
  }
  EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 0, 1, 0, 1, 0, 1}));
}

// CRC-32 of the lines as zlib computes it.
TEST(Profile, WritesALog) {
  Profiled p;
  ASSERT_EQ(rush_profile_run(p.program.context(), 0, &p.profile), RUSH_OK);
  p.steps[1].ticks = 0x123456789;
  reinterpret_cast<ImageHeader*>(const_cast<uint8_t*>(p.program.context()->image))->crc = 0xc0ffee01;
  std::string log;
  rush_profile_write(p.program.context(), &p.profile, append, &log);
  EXPECT_EQ(log,
            "#rush profile 1 c0ffee01 000f4240 02dc6c00 00000001\n"
            "#rush step 000000 00000004 00000000 0000000c\n"
            "#rush step 000001 00000004 00000001 23456789\n"
            "#rush end eaa73275\n");
}

TEST(Profile, RefusesWhatIsMissing) {
  Profiled p;
  p.profile.timer = nullptr;
  EXPECT_EQ(rush_profile_run(p.program.context(), 0, &p.profile), RUSH_BAD_ARGUMENT);
  EXPECT_EQ(rush_profile_run(p.program.context(), 0, nullptr), RUSH_BAD_ARGUMENT);
  rush_context closed = {};
  p.profile.timer = ticking;
  EXPECT_EQ(rush_profile_run(&closed, 0, &p.profile), RUSH_BAD_ARGUMENT);
  std::string log;
  rush_profile_write(&closed, &p.profile, append, &log);
  EXPECT_EQ(log, "");
}

}  // namespace
}  // namespace rush
