// SPDX-License-Identifier: Apache-2.0
//
// The mean that takes its map row by row, behind a clamp whose output is a ring of one row.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "compiler/emit/emit.h"
#include "compiler/host/host_program.h"
#include "compiler/plan/plan.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/mean/mean_op.h"
#include "ops/mean/mean_rows.h"
#include "tests/support/device_suite.h"
#include "tests/support/one_node.h"
#include "tests/support/op_check.h"

namespace rush {
namespace {

Graph clamp_and_mean(const Shape& map, bool as_pool, uint64_t seed) {
  GraphBuilder b(seed);
  const TensorId x = b.input(b.int8_type(map));
  const TensorId clamped = b.node(Clamp{.min = -3, .max = 3}, {x}, b.graph().type(x).quant);
  const std::optional<Quant> quant =
      seed % 2 == 0 ? std::optional(random_quant(b.random())) : b.graph().type(clamped).quant;
  const AvgPool2d pool{.kernel = {map[1], map[2]}, .stride = {1, 1}, .padding = {0, 0, 0, 0}, .layout = "nhwc"};
  b.output(as_pool ? b.node(pool, {clamped}, quant) : b.node(Mean{{1, 2}, false}, {clamped}, quant));
  return b.graph();
}

void check_in_chain(const Shape& map, bool as_pool, uint64_t seed) {
  const Graph graph = clamp_and_mean(map, as_pool, seed);
  for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
    Program program = lower_graph(graph, isa, "test");
    make_chain(program, 0, 2, std::vector<int>(2, static_cast<int>(seed % 3) + 1));
    EXPECT_EQ(program.steps[1].family->name, "mean_rows_s8");
    plan_memory(program);
    const std::vector<uint8_t> image = emit_image(program, {.full_kernel_table = true});
    HostProgram host(image);
    SuiteCase suite_case{
        .name = fmt::format("mean of rows {}, {}", to_string(map), isa_name(isa)), .image = image, .runs = {}};
    for (const Fill fill : {Fill::kUniform, Fill::kExtremes}) {
      Random random(seed);
      const HostTensor x = random_tensor(random, graph.type(graph.inputs[0].tensor), fill);
      const HostTensor expected = run_graph(graph, {x}).at(0);
      EXPECT_EQ(first_difference(host.run(0, {x}).at(0), expected), "") << suite_case.name;
      suite_case.runs.push_back({0, {x}, {expected}});
    }
    record_case(suite_case);
  }
}

TEST(MeanRows, EveryTailOfChannels) {
  for (int64_t channels = 1; channels <= 17; ++channels)
    check_in_chain({1, 4, 5, channels}, channels % 2 == 0, static_cast<uint64_t>(channels));
  check_in_chain({1, 3, 2, 257}, true, 5);
}

TEST(MeanRows, RowsOfAnyLength) {
  for (const int64_t columns : {1, 2, 7, 255, 256})
    check_in_chain({1, 3, columns, 9}, true, static_cast<uint64_t>(columns));
  check_in_chain({1, 90, 3, 8}, false, 4);
}

TEST(MeanRows, IsPoolingWhereRowsAreTooLong) {
  const Program program = lower_graph(clamp_and_mean({1, 3, 257, 2}, true, 1), Isa::kMve, "test");
  EXPECT_EQ(program.steps[1].family->name, "avg_pool2d_s8");
}

TEST(MeanRows, ExtentsRefuseWhatWouldReachOutside) {
  const MeanRowsParams good = {.in = {20, 3, 0},
                               .rows = 3,
                               .columns = 5,
                               .channels = 4,
                               .reserved = 0,
                               .scale = {},
                               .offset = 0,
                               .range = {-128, 127}};
  const auto holds = [&](auto edit) {
    MeanRowsParams params = good;
    edit(params);
    Extents extents{};
    return mean_rows_s8_contract.extents(&params, &extents);
  };
  EXPECT_TRUE(holds([](auto&) {}));
  EXPECT_FALSE(holds([](auto& p) { p.rows = 4; }));
  EXPECT_FALSE(holds([](auto& p) { p.columns = 6; }));
  EXPECT_FALSE(holds([](auto& p) { p.columns = 0; }));
  EXPECT_FALSE(holds([](auto& p) { p.channels = 0; }));
  EXPECT_FALSE(holds([](auto& p) { p.in.row_bytes = 19; }));
}

}  // namespace
}  // namespace rush
