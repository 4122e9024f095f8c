// SPDX-License-Identifier: Apache-2.0
//
// Placement over memories against all placements that there are, and the words of what cannot be met.
#include "compiler/plan/memories.h"

#include <algorithm>
#include <limits>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/emit/emit.h"
#include "compiler/host/host_program.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/choose.h"
#include "compiler/plan/cost.h"
#include "compiler/plan/lifetime.h"
#include "compiler/plan/placement.h"
#include "compiler/plan/plan.h"
#include "ops/conv2d/conv2d_op.h"
#include "tests/support/graph_builder.h"
#include "tests/support/op_check.h"
#include "tests/support/user_error.h"

namespace rush {
namespace {

using testing::HasSubstr;

/// Three convolutions, the first with scratch.
Graph three_convolutions(uint64_t seed) {
  GraphBuilder b(seed);
  TensorId x = b.input(b.int8_type({1, 8, 8, 4}));
  for (const Shape& shape : {Shape{16, 3, 3, 4}, Shape{24, 1, 1, 16}, Shape{8, 1, 1, 24}}) {
    Conv2d conv{.padding = {1, 1, 1, 1}, .layout = "nhwc"};
    if (shape[1] == 1) conv.padding = {0, 0, 0, 0};
    const TensorId w = b.weights(shape);
    x = b.node(conv, {x, w, b.bias(x, w, shape[1] * shape[2] * shape[3])}, random_quant(b.random()));
  }
  b.output(x);
  return b.graph();
}

ChipMemory ram(const std::string& name, uint64_t bytes, double cycles) {
  return {.name = name, .is_flash = false, .bytes = bytes, .read_cycles = cycles, .write_cycles = cycles / 2};
}
ChipMemory flash(double cycles) { return {.name = "flash", .is_flash = true, .bytes = 1 << 20, .read_cycles = cycles}; }

Program planned(const Graph& graph, std::vector<ChipMemory> memories) {
  Program program = lower_graph(graph, Isa::kMve, "cortex-m55");
  program.memories = std::move(memories);
  plan_memory(program);
  return program;
}

/// Every way to lay buffers into memories; the least waiting time of those that fit.
class AllPlacements {
 public:
  explicit AllPlacements(const Program& program) : program_(program), lifetimes_(find_lifetimes(program)) {
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      if (is_constant(i) || lifetimes_.members[i].block >= 0) buffers_.push_back(i);
    }
  }

  double least() {
    find_cycles();
    try_from(0, 0);
    return least_;
  }

 private:
  bool is_constant(size_t buffer) const { return program_.buffers[buffer].kind == BufferKind::kConstant; }

  /// Cycles of each buffer in each memory.
  void find_cycles() {
    for (const ProgramStep& step : program_.steps) {
      const std::vector<double> traffic = operand_traffic(program_, step);
      for (size_t i = 0; i < step.operands.size(); ++i) {
        const BufferId id = step.operands[i].buffer;
        if (!id.valid()) continue;
        const bool writes = (step.family->host->contract->written >> i & 1) != 0;
        std::vector<double>& cycles = cycles_[static_cast<size_t>(id.index)];
        cycles.resize(program_.memories.size());
        for (size_t m = 0; m < cycles.size(); ++m)
          cycles[m] += memory_cycles(program_, program_.memories[m], program_[id].bytes, traffic[i], writes);
      }
    }
  }

  void try_from(size_t at, double cycles) {
    if (cycles >= least_) return;
    if (at == buffers_.size()) {
      for (size_t m = 0; m < program_.memories.size(); ++m) {
        if (!program_.memories[m].is_flash && !fits(m)) return;
      }
      least_ = cycles;
      return;
    }
    for (size_t m = 0; m < program_.memories.size(); ++m) {
      if (program_.memories[m].is_flash && !is_constant(buffers_[at])) continue;
      where_[buffers_[at]] = m;
      try_from(at + 1, cycles + cycles_[buffers_[at]].at(m));
    }
  }

  bool fits(size_t memory) {
    uint64_t constants = 0;
    std::vector<size_t> arena;
    for (const size_t i : buffers_) {
      if (where_.at(i) != memory) continue;
      const Buffer& buffer = program_.buffers[i];
      if (is_constant(i)) {
        constants = (constants + buffer.alignment - 1) / buffer.alignment * buffer.alignment + buffer.bytes;
      } else {
        arena.push_back(i);
      }
    }
    const uint64_t bytes = (constants + 15) / 16 * 16;
    return bytes <= program_.memories[memory].bytes && bytes + arena_bytes(arena) <= program_.memories[memory].bytes;
  }

  uint64_t arena_bytes(const std::vector<size_t>& buffers) {
    if (const auto known = arenas_.find(buffers); known != arenas_.end()) return known->second;
    std::vector<size_t> index(lifetimes_.arena.blocks.size(), SIZE_MAX);
    std::vector<Block> blocks;
    std::vector<Conflict> conflicts;
    for (const size_t i : buffers) {
      index[static_cast<size_t>(lifetimes_.members[i].block)] = blocks.size();
      blocks.push_back(lifetimes_.arena.blocks[static_cast<size_t>(lifetimes_.members[i].block)]);
    }
    for (const Conflict& c : lifetimes_.arena.conflicts) {
      if (index[c.a] != SIZE_MAX && index[c.b] != SIZE_MAX)
        conflicts.push_back({index[c.a], index[c.b], c.above, c.below});
    }
    const uint64_t bytes = place_blocks(blocks, conflicts, pair_bound(blocks, conflicts)).bytes;
    return arenas_[buffers] = (bytes + 15) / 16 * 16;
  }

  const Program& program_;
  const Lifetimes lifetimes_;
  std::vector<size_t> buffers_;
  std::map<size_t, size_t> where_;
  std::map<size_t, std::vector<double>> cycles_;
  std::map<std::vector<size_t>, uint64_t> arenas_;
  double least_ = std::numeric_limits<double>::infinity();
};

TEST(Memories, AreWithinTwoPercentOfAllPlacements) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    for (const uint64_t fast : {400, 900, 1600, 2500}) {
      Program program = planned(three_convolutions(seed), {ram("dtcm", fast, 0), ram("sram", 8192, 6), flash(20)});
      const double least = AllPlacements(program).least();
      place_in_memories(program, {});
      EXPECT_LE(memory_cycles(program), 1.02 * least) << "seed " << seed << ", " << fast << " bytes";
      EXPECT_GT(least, 0);
    }
  }
}

TEST(Memories, LeaveTheResultsAsTheyAre) {
  const Graph graph = three_convolutions(3);
  Program program = planned(graph, {ram("dtcm", 2500, 0), ram("sram", 8192, 6), flash(20)});
  Random random(3);
  const std::vector<HostTensor> inputs = {random_tensor(random, graph.type(graph.inputs[0].tensor))};
  const auto expected = HostProgram(emit_image(program, {.full_kernel_table = true})).run(0, inputs);
  place_in_memories(program, {});
  EXPECT_TRUE(std::ranges::any_of(program.regions, [](const RegionUse& r) { return r.kind == RegionKind::kWeights; }));
  const auto got = HostProgram(emit_image(program, {.full_kernel_table = true})).run(0, inputs);
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_TRUE(
      std::ranges::equal(std::span(got[0].raw(), got[0].bytes()), std::span(expected[0].raw(), expected[0].bytes())));
}

/// Names of the memories of all buffers that end so.
std::vector<std::string> memories_of(const Program& program, const std::string& ending) {
  std::vector<std::string> names;
  for (const MemoryRow& row : describe_memories(program)) {
    if (program[row.buffer].name.ends_with(ending)) names.push_back(row.memory);
  }
  return names;
}

TEST(Memories, FollowRequests) {
  Program program = planned(three_convolutions(1), {ram("dtcm", 16384, 0), ram("sram", 8192, 6), flash(20)});
  place_in_memories(program, {{"*.weight", "sram"}});
  EXPECT_THAT(memories_of(program, ".weight"), testing::Each("sram"));
  EXPECT_THAT(memories_of(program, ".window"), testing::Each("dtcm")) << "what is free lies where it is fastest";
}

std::string refusal(const PlaceRequest& request) {
  Program program = planned(three_convolutions(1), {ram("dtcm", 64, 0), ram("sram", 8192, 6), flash(20)});
  program.target = "chip";
  try {
    place_in_memories(program, {request});
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Memories, SayWhyARequestCannotBeMet) {
  EXPECT_THAT(refusal({"*", "itcm"}), HasSubstr("--place *=itcm: chip has no memory \"itcm\""));
  EXPECT_THAT(refusal({"*", "itcm"}), HasSubstr("use one of dtcm, sram, flash"));
  EXPECT_THAT(refusal({"nothing.weight", "dtcm"}), HasSubstr("--place nothing.weight=dtcm: nothing in the program"));
  EXPECT_THAT(refusal({"*.output", "flash"}), HasSubstr("is written, and flash is flash"));
  EXPECT_THAT(refusal({"*.weight", "dtcm"}), HasSubstr("does not fit"));
  EXPECT_THAT(refusal({"*.weight", "dtcm"}), HasSubstr("dtcm has 64 bytes for the model; it would need"));
}

/// In a chip of little RAM; all other wishes are free.
Program in_ram_of(const Graph& graph, uint64_t bytes) {
  Program program = lower_graph(graph, Isa::kMve, "cortex-m55");
  program.memories = {ram("sram", bytes, 6), flash(20)};
  plan_in_memories(program, {}, {{"*.weight", "flash"}});
  return program;
}

TEST(Memories, ThatAreTooSmallForWholeMapsHoldRows) {
  const Graph graph = three_convolutions(2);
  const Program whole = in_ram_of(graph, 16384);
  ASSERT_EQ(whole.chains.size(), whole.steps.size());
  ASSERT_EQ(whole.regions.size(), 1u);
  const Program streamed = in_ram_of(graph, whole.regions[0].bytes - RUSH_ALIGNMENT);
  EXPECT_LT(streamed.chains.size(), streamed.steps.size());
  EXPECT_LT(streamed.regions[0].bytes, whole.regions[0].bytes);
  Random random(2);
  const std::vector<HostTensor> inputs = {random_tensor(random, graph.type(graph.inputs[0].tensor))};
  const auto expected = HostProgram(emit_image(whole, {.full_kernel_table = true})).run(0, inputs);
  const auto got = HostProgram(emit_image(streamed, {.full_kernel_table = true})).run(0, inputs);
  EXPECT_EQ(first_difference(got.at(0), expected.at(0)), "");
  EXPECT_THAT(user_error([&] { in_ram_of(graph, 256); }), HasSubstr("does not fit"));
}

TEST(Memories, ThatAreTooSmallAreAnError) {
  Program program = planned(three_convolutions(1), {ram("sram", 512, 6), flash(20)});
  EXPECT_THROW(place_in_memories(program, {}), UserError);
}

}  // namespace
}  // namespace rush
