// SPDX-License-Identifier: Apache-2.0
//
// Two convolutions whose map between them is a ring of a few rows: bit for bit what they compute one after the other,
// and resumable after every band.
#include <algorithm>

#include <gtest/gtest.h>

#include "compiler/emit/emit.h"
#include "compiler/execute/execute.h"
#include "compiler/host/host_program.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/conv2d/conv2d_op.h"
#include "tests/support/device_suite.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

/// One pair of convolutions over [1,height,width,channels].
struct Pair {
  const char* name;
  int64_t height, width, channels;
  Conv2d first, second;
  std::vector<int64_t> first_kernel, second_kernel;
};

Conv2d conv(std::vector<int64_t> stride, std::vector<int64_t> padding, std::vector<int64_t> dilation = {1, 1}) {
  return {.stride = stride, .padding = padding, .dilation = dilation, .layout = "nhwc", .min = 0};
}

const Pair kPairs[] = {
    {"3x3 after 3x3", 16, 9, 3, conv({1, 1}, {1, 1, 1, 1}), conv({1, 1}, {1, 1, 1, 1}), {3, 3}, {3, 3}},
    {"strided after strided", 21, 8, 4, conv({2, 2}, {0, 1, 0, 1}), conv({2, 1}, {1, 0, 1, 0}), {3, 3}, {5, 3}},
    {"dilated after 1x1", 17, 5, 5, conv({1, 1}, {0, 0, 0, 0}), conv({1, 1}, {2, 2, 1, 1}, {2, 1}), {1, 1}, {3, 3}},
    {"tall stride drops rows", 20, 6, 2, conv({1, 1}, {1, 1, 1, 1}), conv({3, 1}, {0, 0, 0, 0}), {3, 3}, {2, 1}},
};

TensorId add_conv(GraphBuilder& b, const Conv2d& conv, const std::vector<int64_t>& kernel, TensorId x,
                  int64_t outputs) {
  const int64_t inputs = b.graph().type(x).shape[3];
  const TensorId weights = b.weights({outputs, kernel[0], kernel[1], inputs});
  const TensorId bias = b.bias(x, weights, kernel[0] * kernel[1] * inputs);
  return b.node(conv, {x, weights, bias}, random_quant(b.random()));
}

Graph pair_graph(const Pair& pair, uint64_t seed) {
  GraphBuilder b(seed);
  const TensorId x = b.input(b.int8_type({1, pair.height, pair.width, pair.channels}));
  b.output(add_conv(b, pair.second, pair.second_kernel, add_conv(b, pair.first, pair.first_kernel, x, 6), 7));
  return b.graph();
}

struct Case {
  Isa isa;
  const Pair* pair;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.pair->name << " on " << static_cast<int>(c.isa); }

class ChainProgram : public testing::TestWithParam<Case> {
 protected:
  static constexpr uint64_t kSeed = 77;

  Program plain() const { return lower_graph(graph_, GetParam().isa, "test"); }
  Program chained() const {
    Program program = plain();
    make_chain(program, 0, 2);
    return program;
  }
  std::vector<uint8_t> image_of(Program program) const {
    plan_memory(program);
    return emit_image(program, {.full_kernel_table = true});
  }
  HostTensor random_input(uint64_t seed) const {
    Random random(seed);
    return random_tensor(random, graph_.type(graph_.inputs[0].tensor));
  }
  HostTensor expected(const HostTensor& input) const { return run_graph(graph_, {input}).at(0); }

  const Graph graph_ = pair_graph(*GetParam().pair, kSeed);
};

TEST_P(ChainProgram, ComputesWhatItsStepsComputeAlone) {
  const std::vector<uint8_t> image = image_of(chained());
  HostProgram program(image), alone(image_of(plain()));
  SuiteCase suite_case{.name = std::string("chain, ") + GetParam().pair->name, .image = image, .runs = {}};
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const HostTensor x = random_input(seed);
    const HostTensor y = program.run(0, {x}).at(0);
    EXPECT_EQ(first_difference(y, expected(x)), "") << seed;
    EXPECT_EQ(first_difference(y, alone.run(0, {x}).at(0)), "") << seed;
    suite_case.runs.push_back({0, {x}, {expected(x)}, seed % 2 == 1});
  }
  record_case(suite_case);
}

/// Input and output live together in a chain, so what it saves is in the map between them.
TEST_P(ChainProgram, KeepsAFewRowsOfTheMapBetween) {
  const Program rings = chained(), whole = plain();
  const auto between_bytes = [](const Program& program) { return program[program.steps[0].operands[1].buffer].bytes; };
  EXPECT_LE(between_bytes(rings) * 2, between_bytes(whole));
}

/// Stops after `bands` bands, runs another instance, and goes on.
TEST_P(ChainProgram, ResumesAfterAnyBand) {
  const std::vector<uint8_t> image = image_of(chained());
  const HostTensor x = random_input(1), other = random_input(2);
  HostProgram program(image), interrupting(image);
  bool ended = false;
  for (int bands = 0; !ended; ++bands) {
    rush_context* context = program.context();
    std::copy_n(x.raw(), x.bytes(), static_cast<uint8_t*>(rush_input(context, 0, 0)));
    ASSERT_EQ(rush_begin(context, 0), RUSH_OK);
    rush_status status = RUSH_RUNNING;
    for (int i = 0; i < bands && status == RUSH_RUNNING; ++i) status = rush_step(context);
    ended = status == RUSH_OK;
    EXPECT_EQ(first_difference(interrupting.run(0, {other}).at(0), expected(other)), "");
    while (status == RUSH_RUNNING) status = rush_step(context);
    ASSERT_EQ(status, RUSH_OK);
    HostTensor y = expected(x);
    EXPECT_TRUE(std::equal(y.raw(), y.raw() + y.bytes(), static_cast<const uint8_t*>(rush_output(context, 0, 0))))
        << bands;
    ASSERT_LT(bands, 1000);
  }
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
    for (const Pair& pair : kPairs) cases.push_back({isa, &pair});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Pairs, ChainProgram, testing::ValuesIn(all_cases()));

}  // namespace
}  // namespace rush
