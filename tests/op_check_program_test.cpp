// SPDX-License-Identifier: Apache-2.0
//
// The checks that every operator's test relies on: kernels that break their contract must be noticed.
#include <algorithm>

#include <gtest/gtest.h>

#include "ops/clamp/clamp.h"
#include "ops/clamp/clamp_op.h"
#include "ops/op_def.h"
#include "tests/support/graph_builder.h"
#include "tests/support/hand_programs.h"
#include "tests/support/isolated_run.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

void writes_behind(const void* params, void* const* operands, Band band) {
  clamp_s8_scalar(params, operands, band);
  static_cast<int8_t*>(operands[1])[kClampRows * kClampRowBytes] = 1;
}

void writes_its_input(const void* params, void* const* operands, Band band) {
  clamp_s8_scalar(params, operands, band);
  static_cast<int8_t*>(operands[0])[0] ^= 1;
}

void forgets_bands(const void* params, void* const* operands, Band band) {
  if (band.begin == 0) clamp_s8_scalar(params, operands, {0, band.end});
}

/// Faults of the clamp program when `kernel` runs in the clamp's place.
IsolatedRuns run_with(Kernel* kernel, const HostTensor& input) {
  Program program = clamp_program(Isa::kScalar);
  const KernelFamily& real = *program.steps[0].family;
  HostKernel host = *real.host;
  host.run = kernel;
  const KernelFamily family = {real.id, real.name, real.op, {}, &host};
  program.steps[0].family = &family;
  Random random(6);
  return run_isolated(program, {{input}, {input}, {input}}, random);
}

HostTensor some_input() {
  Random random(5);
  return random_tensor(random, {DType::kInt8, {1, 4, 2, 3}, {}});
}

TEST(IsolatedRun, AcceptsTheClamp) {
  const HostTensor x = some_input();
  const IsolatedRuns runs = run_with(clamp_s8_scalar, x);
  EXPECT_TRUE(runs.faults.empty());
  for (int64_t i = 0; i < x.size(); ++i)
    EXPECT_EQ(runs.outputs[0][0].number(i), std::clamp(x.number(i), double(kClampMin), double(kClampMax)));
}

#if defined(__SANITIZE_ADDRESS__)
/// AddressSanitizer poisons eight bytes at a time: the last ones in front of an operand at an odd address it cannot.
void writes_further_in_front(const void* params, void* const* operands, Band band) {
  clamp_s8_scalar(params, operands, band);
  static_cast<int8_t*>(operands[1])[-9] = 1;
}

TEST(IsolatedRunDeathTest, StopsAtWritesBesideAnOperand) {
  EXPECT_DEATH(run_with(writes_behind, some_input()), "AddressSanitizer");
  EXPECT_DEATH(run_with(writes_further_in_front, some_input()), "AddressSanitizer");
}
#else
void writes_in_front(const void* params, void* const* operands, Band band) {
  clamp_s8_scalar(params, operands, band);
  static_cast<int8_t*>(operands[1])[-1] = 1;
}

TEST(IsolatedRun, SeesWritesBesideAnOperand) {
  const std::string fault = "step \"clamp_s8_step\" (clamp_s8) wrote beside operand 1";
  EXPECT_EQ(run_with(writes_behind, some_input()).faults.at(0), fault);
  EXPECT_EQ(run_with(writes_in_front, some_input()).faults.at(0), fault);
}
#endif

TEST(IsolatedRun, SeesWritesToAnInput) {
  EXPECT_EQ(run_with(writes_its_input, some_input()).faults.at(0),
            "step \"clamp_s8_step\" (clamp_s8) changed operand 0, which it only reads");
}

TEST(IsolatedRun, RunsInBands) {
  const HostTensor x = some_input();
  const IsolatedRuns whole = run_with(clamp_s8_scalar, x), parts = run_with(forgets_bands, x);
  EXPECT_NE(whole.outputs, parts.outputs);
}

TEST(OpCheck, PlacesApartAtOddAddresses) {
  Program program = clamp_program(Isa::kScalar);
  place_apart(program);
  EXPECT_EQ(program.buffers[0].offset, 1u);
  EXPECT_EQ(program.buffers[1].offset, 25u);
  EXPECT_EQ(program.regions.at(0).bytes, 49u);
}

TEST(OpCheck, NamesTheFirstDifference) {
  const auto a = make_tensor<int8_t>(DType::kInt8, {2, 2}, {1, 2, 3, 4});
  const auto b = make_tensor<int8_t>(DType::kInt8, {2, 2}, {1, 2, 5, 6});
  EXPECT_EQ(first_difference(a, a), "");
  EXPECT_EQ(first_difference(a, b), "element 2 of [2,2] is 3 instead of 5");
  EXPECT_EQ(first_difference(a, b.reshaped({4})), "int8 [2,2] instead of int8 [4]");
}

}  // namespace
}  // namespace rush
