// SPDX-License-Identifier: Apache-2.0
//
// Running an accepted image through the C API.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/emit/emit.h"
#include "compiler/host/host_program.h"
#include "tests/support/hand_programs.h"

namespace rush {
namespace {

constexpr int kBytes = kClampRows * kClampRowBytes;

int8_t input_code(int i) { return static_cast<int8_t>(i * 37 - 100); }
int8_t clamped(int i) { return std::clamp<int8_t>(input_code(i), kClampMin, kClampMax); }

void write_input(rush_context* context) {
  for (int i = 0; i < kBytes; ++i) static_cast<int8_t*>(rush_input(context, 0, 0))[i] = input_code(i);
}

void expect_output(const rush_context* context) {
  for (int i = 0; i < kBytes; ++i)
    EXPECT_EQ(static_cast<const int8_t*>(rush_output(context, 0, 0))[i], clamped(i)) << i;
}

TEST(Run, Describes) {
  HostProgram program(emit_image(clamp_program(Isa::kDsp)));
  rush_context* context = program.context();
  EXPECT_EQ(rush_entry_count(context), 1u);
  EXPECT_EQ(std::string(rush_entry_name(context, 0)), "main");
  EXPECT_EQ(rush_entry_name(context, 1), nullptr);
  const rush_io* x = rush_input_info(context, 0, 0);
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(std::string(rush_string(context, x->name)), "x");
  EXPECT_EQ(x->bytes, 24u);
  EXPECT_EQ(x->dtype, RUSH_INT8);
  EXPECT_EQ(x->exported_dtype, RUSH_FLOAT32);
  EXPECT_EQ(x->scale, 0.1f);
  EXPECT_EQ(x->inverse_scale, 10.0f);
  EXPECT_EQ(x->zero_point, -3);
  EXPECT_EQ(x->code_min, -127);
  EXPECT_EQ(std::vector<uint32_t>(x->dims, x->dims + x->rank), (std::vector<uint32_t>{1, 3, 4, 2}));
  EXPECT_EQ(std::vector<int>(x->dim_order, x->dim_order + x->rank), (std::vector<int>{0, 2, 3, 1}));
  EXPECT_EQ(rush_input_info(context, 0, 1), nullptr);
  EXPECT_EQ(rush_output_info(context, 0, 1), nullptr);
  EXPECT_EQ(rush_input_info(context, 1, 0), nullptr);
  EXPECT_EQ(rush_output(context, 0, 1), nullptr);
  EXPECT_EQ(rush_string(context, 0xffffffffu), nullptr);
}

TEST(Run, Labels) {
  HostProgram program(emit_image(clamp_program(Isa::kScalar)));
  EXPECT_EQ(std::string(rush_label(program.context(), 0)), "dark");
  EXPECT_EQ(std::string(rush_label(program.context(), 1)), "light");
  EXPECT_EQ(rush_label(program.context(), 2), nullptr);
}

TEST(Run, ComputesTheWholeEntry) {
  HostProgram program(emit_image(clamp_program(Isa::kScalar)));
  write_input(program.context());
  EXPECT_EQ(rush_run(program.context(), 0), RUSH_OK);
  expect_output(program.context());
  EXPECT_EQ(rush_run(program.context(), 1), RUSH_BAD_ARGUMENT);
}

TEST(Run, StepsOfTheLastReadyFirst) {
  HostProgram program(emit_image(clamp_chain_program(Isa::kScalar)));
  std::vector<std::string> order;
  HostTensor input(DType::kInt8, {1, 4, 2, 3});
  program.run(0, {input}, [&](const BandView& view) {
    order.push_back(std::to_string(view.step) + ":" + std::to_string(view.band.begin) + "-" +
                    std::to_string(view.band.end));
  });
  EXPECT_EQ(order, (std::vector<std::string>{"0:0-1", "1:0-1", "0:1-2", "1:1-2", "0:2-3", "1:2-3", "0:3-4", "1:3-4"}));
}

TEST(Run, CanBeGivenUpAfterAnyBand) {
  HostProgram program(emit_image(clamp_chain_program(Isa::kScalar)));
  rush_context* context = program.context();
  for (int bands = 0; bands < 8; ++bands) {
    ASSERT_EQ(rush_begin(context, 0), RUSH_OK);
    for (int i = 0; i < bands; ++i) ASSERT_EQ(rush_step(context), RUSH_RUNNING);
    write_input(context);
    ASSERT_EQ(rush_run(context, 0), RUSH_OK);
    expect_output(context);
    EXPECT_EQ(rush_step(context), RUSH_OK) << "nothing left to do";
  }
}

}  // namespace
}  // namespace rush
