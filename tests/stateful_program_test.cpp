// SPDX-License-Identifier: Apache-2.0
//
// A program with state and two entry points: what a streaming model is.
#include <gtest/gtest.h>

#include <algorithm>

#include "compiler/emit/emit.h"
#include "compiler/host/host_program.h"
#include "tests/support/device_suite.h"
#include "tests/support/hand_programs.h"
#include "tests/support/random.h"

namespace rush {
namespace {

constexpr uint32_t kStep = 0, kInit = 1;

HostTensor random_input(Random& random) {
  HostTensor x(DType::kInt8, {kAccumulatorSize});
  for (int i = 0; i < kAccumulatorSize; ++i) x.as<int8_t>()[i] = static_cast<int8_t>(random.integer(-60, 60));
  return x;
}

/// The running sum, clamped after each step.
class Accumulator {
 public:
  HostTensor step(const HostTensor& x) {
    for (int i = 0; i < kAccumulatorSize; ++i) sums_[i] = std::clamp(sums_[i] + x.as<int8_t>()[i], -100, 100);
    return make_tensor<int8_t>(DType::kInt8, {kAccumulatorSize}, {sums_.begin(), sums_.end()});
  }

 private:
  std::vector<int> sums_ = std::vector<int>(kAccumulatorSize, kAccumulatorStart);
};

class StatefulProgram : public testing::TestWithParam<Isa> {
 protected:
  const std::vector<uint8_t> image_ = emit_image(accumulator_program(GetParam()), {.full_kernel_table = true});
};

TEST_P(StatefulProgram, StateSurvivesRuns) {
  HostProgram program(image_);
  Accumulator expected;
  Random random(1);
  SuiteCase suite_case{.name = "stateful program", .image = image_, .runs = {{kInit, {}, {}}}};
  for (int run = 0; run < 6; ++run) {
    const HostTensor x = random_input(random), y = expected.step(x);
    EXPECT_EQ(program.run(kStep, {x}), std::vector<HostTensor>{y}) << run;
    suite_case.runs.push_back({kStep, {x}, {y}, run % 2 == 1});
  }
  record_case(suite_case);
}

TEST_P(StatefulProgram, InitBeginsAnew) {
  HostProgram program(image_);
  Random random(2);
  SuiteCase suite_case{.name = "stateful program, begun anew", .image = image_, .runs = {}};
  for (int round = 0; round < 3; ++round) {
    program.run(kInit, {});
    suite_case.runs.push_back({kInit, {}, {}});
    Accumulator expected;
    for (int run = 0; run < 3; ++run) {
      const HostTensor x = random_input(random), y = expected.step(x);
      EXPECT_EQ(program.run(kStep, {x}), std::vector<HostTensor>{y}) << round << ", " << run;
      suite_case.runs.push_back({kStep, {x}, {y}});
    }
  }
  record_case(suite_case);
}

TEST_P(StatefulProgram, InstancesAreIndependent) {
  HostProgram first(image_), second(image_);
  Accumulator first_sums, second_sums;
  Random random(3);
  for (int run = 0; run < 4; ++run) {
    const HostTensor a = random_input(random), b = random_input(random);
    EXPECT_EQ(first.run(kStep, {a}), std::vector<HostTensor>{first_sums.step(a)});
    EXPECT_EQ(second.run(kStep, {b}), std::vector<HostTensor>{second_sums.step(b)});
  }
}

INSTANTIATE_TEST_SUITE_P(Classes, StatefulProgram, testing::Values(Isa::kScalar, Isa::kDsp, Isa::kMve));

}  // namespace
}  // namespace rush
