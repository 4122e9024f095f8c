// SPDX-License-Identifier: Apache-2.0
//
// Random networks in every schedule that the compiler finds for them, fed whole or row by row, run at once, in pieces
// or band by band: always the bits of the reference.
#include <gtest/gtest.h>

#include <algorithm>

#include <fmt/format.h>

#include "compiler/emit/emit.h"
#include "compiler/execute/execute.h"
#include "compiler/host/host_program.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/choose.h"
#include "compiler/plan/stream.h"
#include "ops/add/add_op.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/mean/mean_op.h"
#include "tests/support/device_suite.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

/// Convolutions of all kinds, residual blocks, pools; at the end a mean over space, or the map.
class RandomNetwork {
 public:
  explicit RandomNetwork(uint64_t seed) : b_(seed) {}

  Graph make() {
    TensorId x = b_.input(b_.int8_type({1, b_.random().integer(12, 28), b_.random().integer(3, 9), channels()}));
    for (int64_t layers = b_.random().integer(3, 6); layers > 0; --layers) x = layer(x);
    const double end = b_.random().real(0, 1);
    const Shape& map = b_.graph().type(x).shape;
    if (end < 0.4) x = b_.node(Mean{{1, 2}, false}, {x}, random_quant(b_.random()));
    if (end >= 0.4 && end < 0.7)
      x = b_.node(AvgPool2d{.kernel = {map[1], map[2]}, .stride = {1, 1}, .padding = {0, 0, 0, 0}, .layout = "nhwc"},
                  {x}, random_quant(b_.random()));
    b_.output(x);
    return b_.graph();
  }

 private:
  int64_t channels() { return b_.random().pick(std::vector<int64_t>{1, 3, 4, 8, 9, 16}); }

  TensorId conv(TensorId x, int64_t outputs, const std::vector<int64_t>& kernel, int64_t stride,
                bool depthwise = false) {
    const int64_t inputs = b_.graph().type(x).shape[3];
    const int64_t rows = (kernel[0] - 1) / 2, columns = (kernel[1] - 1) / 2;
    const Conv2d conv{.stride = {stride, stride},
                      .padding = {rows, kernel[0] - 1 - rows, columns, kernel[1] - 1 - columns},
                      .dilation = {1, 1},
                      .groups = depthwise ? inputs : 1,
                      .layout = "nhwc",
                      .min = 0};
    const TensorId weights = b_.weights({outputs, kernel[0], kernel[1], depthwise ? 1 : inputs});
    const TensorId bias = b_.bias(x, weights, kernel[0] * kernel[1] * (depthwise ? 1 : inputs));
    return b_.node(conv, {x, weights, bias}, random_quant(b_.random()));
  }

  TensorId layer(TensorId x) {
    const Shape& map = b_.graph().type(x).shape;
    const int64_t inputs = map[3], stride = map[1] >= 12 && map[2] >= 3 && b_.random().chance(0.3) ? 2 : 1;
    const double kind = b_.random().real(0, 1);
    if (kind < 0.25) return conv(x, channels(), {1, 1}, 1);
    if (kind < 0.5) return conv(x, inputs, {3, 3}, stride, inputs > 1);
    if (kind < 0.7) return conv(x, channels(), {b_.random().integer(1, 5), 3}, stride);
    if (kind < 0.8) {
      return b_.node(MaxPool2d{.kernel = {3, 3},
                               .stride = {stride, stride},
                               .padding = {1, 1, 1, 1},
                               .dilation = {1, 1},
                               .layout = "nhwc"},
                     {x}, b_.graph().type(x).quant);
    }
    const TensorId inner = conv(conv(x, channels(), {3, 3}, 1), inputs, {3, 3}, 1);
    return b_.node(Add{.min = 0}, {x, inner}, random_quant(b_.random()));
  }

  GraphBuilder b_;
};

class Streamed {
 public:
  explicit Streamed(uint64_t seed) : seed_(seed), graph_(RandomNetwork(seed).make()) {
    Random random(seed + 1);
    for (int i = 0; i < 2; ++i) {
      inputs_.push_back(random_tensor(random, graph_.type(graph_.inputs[0].tensor)));
      expected_.push_back(run_graph(graph_, {inputs_.back()}).at(0));
    }
  }

  /// The plan of a wish, checked and recorded for the boards.
  Program check(Isa isa, const ScheduleWish& wish, bool line_fed, const std::string& how) {
    Program program = lower_graph(graph_, isa, "test");
    if (line_fed) make_line_fed(program, 0);
    plan_program(program, wish);
    check(program, line_fed, how);
    return program;
  }

  void check(const Program& program, bool line_fed, const std::string& how) {
    const std::vector<uint8_t> image = emit_image(program, {.full_kernel_table = true, .costs = true});
    HostProgram host(image);
    SuiteCase suite_case{
        .name = fmt::format("network {}, {} on {}", seed_, how, isa_name(program.isa)), .image = image, .runs = {}};
    for (size_t i = 0; i < inputs_.size(); ++i) {
      EXPECT_EQ(first_difference(host.run(0, {inputs_[i]}).at(0), expected_[i]), "") << suite_case.name;
      if (!line_fed) check_pieces(host, i, suite_case.name);
      suite_case.runs.push_back({0, {inputs_[i]}, {expected_[i]}, i == 0 && !line_fed, i == 1 && !line_fed});
    }
    record_case(suite_case);
  }

  const Graph& graph() const { return graph_; }

 private:
  void check_pieces(HostProgram& host, size_t i, const std::string& name) {
    rush_context* const context = host.context();
    std::copy_n(inputs_[i].raw(), inputs_[i].bytes(), static_cast<uint8_t*>(rush_input(context, 0, 0)));
    ASSERT_EQ(rush_begin(context, 0), RUSH_OK);
    int pieces = 1;
    for (; rush_run_some(context, 2000) == RUSH_RUNNING; ++pieces) ASSERT_LT(pieces, 100000);
    EXPECT_GT(pieces, 1) << name;
    EXPECT_TRUE(std::equal(expected_[i].raw(), expected_[i].raw() + expected_[i].bytes(),
                           static_cast<const uint8_t*>(rush_output(context, 0, 0))))
        << name << " in pieces";
  }

  uint64_t seed_;
  Graph graph_;
  std::vector<HostTensor> inputs_;
  std::vector<HostTensor> expected_;
};

constexpr uint64_t kNetworks = 16;
constexpr double kAnyTime = 1e9;

TEST(StreamProgram, ComputesTheSameInTheLeastRam) {
  int smaller = 0;
  for (uint64_t seed = 0; seed < kNetworks; ++seed) {
    Streamed network(seed);
    for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
      const Program whole = network.check(isa, {}, false, "whole");
      const Program least = network.check(isa, {.most_added = kAnyTime}, false, "least RAM");
      EXPECT_LE(total_ram(least), total_ram(whole)) << seed;
      smaller += total_ram(least) < total_ram(whole) * 0.8 ? 1 : 0;
    }
  }
  EXPECT_GE(smaller, 10) << "of " << kNetworks * 3;
}

/// Makes a chain of as many of the first steps as can be one, in bands of random heights; how many there are.
int chain_what_can_be(Program& program, Random& random) {
  for (auto count = static_cast<int>(program.steps.size()); count > 1; --count) {
    std::vector<int> band_rows;
    for (int s = 0; s < count; ++s) band_rows.push_back(static_cast<int>(random.integer(1, 5)));
    Program chained = program;
    try {
      make_chain(chained, 0, count, band_rows);
    } catch (const UserError&) {
      continue;
    }
    program = std::move(chained);
    return count;
  }
  return 1;
}

TEST(StreamProgram, ComputesTheSameInBandsOfAnyHeight) {
  int chained = 0;
  for (uint64_t seed = 100; seed < 100 + kNetworks; ++seed) {
    Streamed network(seed);
    Random random(seed);
    for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
      Program program = lower_graph(network.graph(), isa, "test");
      chained += chain_what_can_be(program, random) > 2 ? 1 : 0;
      plan_memory(program);
      network.check(program, false, "bands of any height");
    }
  }
  EXPECT_GE(chained, kNetworks) << "of " << kNetworks * 3;
}

TEST(StreamProgram, ComputesTheSameFromRowsThatTheCallerGives) {
  for (uint64_t seed = 0; seed < kNetworks; ++seed) {
    Streamed network(seed);
    for (const Isa isa : {Isa::kScalar, Isa::kMve}) network.check(isa, {.most_added = kAnyTime}, true, "line-fed");
  }
}

TEST(StreamProgram, FitsAnyRamOrSaysHowMuchIsMissing) {
  uint64_t seed = 0;
  Program curve;
  do {
    curve = lower_graph(Streamed(seed).graph(), Isa::kMve, "test");
    plan_program(curve, {.most_added = kAnyTime, .with_curve = true});
  } while (curve.trade_curve.size() < 3 && ++seed < 100);
  ASSERT_GE(curve.trade_curve.size(), 3u);
  const Streamed network(seed);
  const uint64_t least = curve.trade_curve.back().ram_bytes, most = curve.trade_curve.front().ram_bytes;
  for (uint64_t ram = least; ram <= most + 100; ram += 37) {
    Program program = lower_graph(network.graph(), Isa::kMve, "test");
    plan_program(program, {.most_ram = ram});
    EXPECT_LE(total_ram(program), ram);
  }
  Program program = lower_graph(network.graph(), Isa::kMve, "test");
  try {
    plan_program(program, {.most_ram = least - 1});
    ADD_FAILURE() << "fits into less than the least";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(fmt::format("no schedule needs less than {}, 1 more", least)),
              std::string::npos)
        << error.what();
  }
}

TEST(StreamProgram, KeepsTheInputForWhoAsks) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Streamed network(seed);
    Program program = lower_graph(network.graph(), Isa::kMve, "test");
    program.entries[0].inputs[0].kept = true;
    plan_program(program, {.most_added = kAnyTime});
    HostProgram host(emit_image(program, {.full_kernel_table = true}));
    Random random(seed);
    const HostTensor x = random_tensor(random, network.graph().type(network.graph().inputs[0].tensor));
    host.run(0, {x});
    EXPECT_TRUE(
        std::equal(x.raw(), x.raw() + x.bytes(), static_cast<const uint8_t*>(rush_input(host.context(), 0, 0))));
    EXPECT_EQ(rush_input_info(host.context(), 0, 0)->flags, RUSH_IO_KEPT);
  }
}

}  // namespace
}  // namespace rush
