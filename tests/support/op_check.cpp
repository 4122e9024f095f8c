// SPDX-License-Identifier: Apache-2.0
#include "tests/support/op_check.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/emit/emit.h"
#include "compiler/execute/execute.h"
#include "compiler/host/host_program.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/plan.h"
#include "ops/op_def.h"
#include "tests/support/device_suite.h"
#include "tests/support/graph_builder.h"
#include "tests/support/isolated_run.h"

namespace rush {
namespace {

/// Consecutive runs: inputs and the outputs of the reference.
struct Samples {
  std::vector<std::vector<HostTensor>> inputs;
  std::vector<std::vector<HostTensor>> expected;
};

Samples make_samples(const Graph& graph, Random& random) {
  Samples samples;
  GraphExecutor reference(graph);
  for (const Fill fill : {Fill::kUniform, Fill::kExtremes}) {
    std::vector<HostTensor>& inputs = samples.inputs.emplace_back();
    for (const Port& port : graph.inputs) inputs.push_back(random_tensor(random, graph.type(port.tensor), fill));
    samples.expected.push_back(reference.run(inputs));
  }
  return samples;
}

void expect_same(const std::vector<HostTensor>& got, const std::vector<HostTensor>& expected, const std::string& how) {
  ASSERT_EQ(got.size(), expected.size()) << how;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_EQ(first_difference(got[i], expected[i]), "") << how << ", output " << i;
}

void check_isolated(const Program& program, const Samples& samples, Random& random) {
  const IsolatedRuns runs = run_isolated(program, samples.inputs, random);
  for (const std::string& fault : runs.faults) ADD_FAILURE() << fault;
  for (size_t i = 0; i < samples.inputs.size(); ++i)
    expect_same(runs.outputs[i], samples.expected[i], fmt::format("between guards, run {}", i));
}

/// Runs the image on the host and records it for the boards.
void check_image(const Program& program, const Samples& samples, const OpCheck& check, bool is_apart) {
  const std::vector<uint8_t> image = emit_image(program, {.full_kernel_table = true});
  const std::string how = fmt::format("{} image, {}", isa_name(program.isa), is_apart ? "apart" : "planned");
  HostProgram host(image);
  SuiteCase suite_case{.name = fmt::format("{}, seed {}, {}", check.name, check.seed, how), .image = image, .runs = {}};
  if (const auto init = host.image().find_entry("init"))
    suite_case.runs.push_back({static_cast<uint32_t>(*init), {}, {}});
  for (size_t i = 0; i < samples.inputs.size(); ++i) {
    expect_same(host.run(0, samples.inputs[i]), samples.expected[i], fmt::format("{}, run {}", how, i));
    suite_case.runs.push_back({0, samples.inputs[i], samples.expected[i], is_apart});
  }
  if (check.images_for_boards) record_case(suite_case);
}

uint32_t odd_offset(uint32_t end, uint32_t alignment) {
  const uint32_t aligned = (end + alignment - 1) / alignment * alignment;
  return alignment < RUSH_ALIGNMENT && aligned / alignment % 2 == 0 ? aligned + alignment : aligned;
}

void place_kind(Program& program, BufferKind kind, uint8_t region) {
  uint32_t end = 0;
  for (Buffer& buffer : program.buffers) {
    if (buffer.kind != kind || buffer.view_of) continue;
    buffer.region = region;
    buffer.offset = odd_offset(end, buffer.alignment);
    end = buffer.offset + buffer.bytes;
  }
  if (end > 0 || region == kArenaRegion)
    program.regions.push_back({kind == BufferKind::kState ? "state" : "arena",
                               kind == BufferKind::kState ? RegionKind::kState : RegionKind::kArena, end});
}

}  // namespace

void place_apart(Program& program) {
  program.regions.clear();
  place_kind(program, BufferKind::kArena, kArenaRegion);
  place_kind(program, BufferKind::kState, kStateRegion);
  for (Buffer& buffer : program.buffers) {
    if (buffer.kind == BufferKind::kConstant || !buffer.view_of) continue;
    const Buffer* owner = &program[*buffer.view_of];
    uint32_t offset = buffer.view_offset;
    for (; owner->view_of; owner = &program[*owner->view_of]) offset += owner->view_offset;
    buffer.region = owner->region;
    buffer.offset = owner->offset + offset;
  }
}

std::string first_difference(const HostTensor& got, const HostTensor& expected) {
  if (got.dtype() != expected.dtype() || got.shape() != expected.shape())
    return fmt::format("{} {} instead of {} {}", dtype_name(got.dtype()), to_string(got.shape()),
                       dtype_name(expected.dtype()), to_string(expected.shape()));
  const size_t width = dtype_bytes(got.dtype());
  const auto [at, unused] = std::mismatch(got.raw(), got.raw() + got.bytes(), expected.raw());
  if (at == got.raw() + got.bytes()) return "";
  const auto i = static_cast<int64_t>(static_cast<size_t>(at - got.raw()) / width);
  return fmt::format("element {} of {} is {} instead of {}", i, to_string(got.shape()), got.number(i),
                     expected.number(i));
}

void check_op(const Graph& graph, const OpCheck& check) {
  SCOPED_TRACE(fmt::format("{}, seed {}", check.name, check.seed));
  verify(graph);
  Random random(check.seed ^ 0x5bd1e995u);
  const Samples samples = make_samples(graph, random);
  check_isolated(lower_graph(graph, Isa::kScalar, "cortex-m0"), samples, random);
  for (const Isa isa : {Isa::kScalar, Isa::kDsp, Isa::kMve}) {
    Program program = lower_graph(graph, isa, "test", check.opt);
    plan_memory(program);
    check_image(program, samples, check, false);
    place_apart(program);
    check_image(program, samples, check, true);
  }
}

}  // namespace rush
