// SPDX-License-Identifier: Apache-2.0
//
// Random programs are planned and then played: every byte remembers which buffer wrote it last, and in which run.
#include "compiler/plan/plan.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/plan/placement.h"
#include "ops/op_def.h"
#include "tests/support/random.h"

namespace rush {
namespace {

// Operands 0 and 1 are read, 2 is written, 3 is scratch.
constexpr KernelContract kContract = {nullptr, 0, 4, 0xc, 0};
constexpr HostKernel kHost = {.contract = &kContract, .run = nullptr, .packing = {}};
const KernelFamily kFamily = {900, "test", "test", {"scalar", "scalar", "scalar"}, &kHost};

enum Operand { kFirst, kSecond, kOutput, kScratch };

BufferId add_buffer(Program& program, uint32_t bytes, uint32_t alignment = 1, BufferKind kind = BufferKind::kArena) {
  Buffer buffer;
  buffer.name = fmt::format("b{}", program.buffers.size());
  buffer.kind = kind;
  buffer.bytes = bytes;
  buffer.alignment = alignment;
  program.buffers.push_back(buffer);
  return {static_cast<int32_t>(program.buffers.size()) - 1};
}

BufferId add_view(Program& program, BufferId of) {
  Buffer view = program[of];
  view.name += ".view";
  view.view_of = of;
  program.buffers.push_back(view);
  return {static_cast<int32_t>(program.buffers.size()) - 1};
}

void add_step(Program& program, std::vector<BufferId> operands, std::vector<InPlace> in_place = {}) {
  ProgramStep step;
  step.family = &kFamily;
  step.name = fmt::format("s{}", program.steps.size());
  for (const BufferId id : operands) step.operands.push_back({id, 0});
  step.in_place = std::move(in_place);
  program.chains.push_back({.first_step = static_cast<int>(program.steps.size()), .step_count = 1, .links = {}});
  program.steps.push_back(std::move(step));
}

ProgramPort port(BufferId buffer) {
  ProgramPort port;
  port.buffer = buffer;
  return port;
}

Entry whole_program(const Program& program, std::vector<BufferId> inputs, std::vector<BufferId> outputs) {
  Entry entry;
  entry.chain_count = static_cast<int>(program.chains.size());
  for (const BufferId id : inputs) entry.inputs.push_back(port(id));
  for (const BufferId id : outputs) entry.outputs.push_back(port(id));
  return entry;
}

/// Random entries over random steps: views, scratch, outputs in place, states, steps that run as one chain.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {}

  Program make() {
    const int64_t entries = random_.integer(1, 3);
    const BufferId state = add_buffer(program_, bytes(), alignment(), BufferKind::kState);
    const BufferId shared = add_buffer(program_, bytes(), alignment());
    for (int64_t e = 0; e < entries; ++e) add_entry(state, shared);
    return program_;
  }

 private:
  uint32_t bytes() { return static_cast<uint32_t>(random_.integer(1, 300)); }
  uint32_t alignment() { return random_.pick(std::vector<uint32_t>{1, 4, 8, 16}); }

  void add_entry(BufferId state, BufferId shared) {
    Entry entry;
    entry.first_chain = static_cast<int>(program_.chains.size());
    std::vector<BufferId> known = {state};
    if (program_.entries.empty()) add_step(program_, {state, state, shared, scratch()});
    if (random_.chance(0.5)) known.push_back(shared);
    for (int64_t i = random_.integer(1, 3); i > 0; --i) {
      known.push_back(add_buffer(program_, bytes(), alignment()));
      entry.inputs.push_back(port(known.back()));
    }
    for (int64_t i = random_.integer(1, 12); i > 0; --i) known.push_back(add_random_step(known));
    if (random_.chance(0.3)) add_step(program_, {known.back(), known.back(), shared, scratch()});
    add_step(program_, {known.back(), random_.pick(known), state, scratch()});
    for (int64_t i = random_.integer(1, 2); i > 0; --i) entry.outputs.push_back(port(random_.pick(known)));
    entry.chain_count = static_cast<int>(program_.chains.size()) - entry.first_chain;
    if (entry.chain_count > 4 && random_.chance(0.5)) join_chains(entry);
    program_.entries.push_back(entry);
  }

  BufferId scratch() { return random_.chance(0.5) ? add_buffer(program_, bytes(), alignment()) : BufferId{}; }

  BufferId add_random_step(const std::vector<BufferId>& known) {
    const BufferId first = random_.pick(known), second = random_.pick(known);
    const bool in_place = random_.chance(0.5);
    const uint32_t size = in_place ? program_[first].bytes : bytes();
    const BufferId output =
        add_buffer(program_, std::max<uint32_t>(1, size - (random_.chance(0.2) ? 1 : 0)), alignment());
    std::vector<InPlace> pairs;
    if (in_place) pairs.push_back({kFirst, kOutput});
    if (in_place && program_[second].bytes >= program_[output].bytes) pairs.push_back({kSecond, kOutput});
    add_step(program_, {first, second, output, scratch()}, pairs);
    return random_.chance(0.2) ? add_view(program_, output) : output;
  }

  void join_chains(Entry& entry) {
    const auto at = program_.chains.begin() + entry.first_chain + 1;
    at->step_count = static_cast<int>(random_.integer(2, entry.chain_count - 2));
    program_.chains.erase(at + 1, at + at->step_count);
    entry.chain_count -= at->step_count - 1;
  }

  Random random_;
  Program program_;
};

/// Plays a planned program. Each byte holds the number of the write that filled it.
class Player {
 public:
  explicit Player(const Program& program) : program_(program), written_(program.buffers.size(), 0) {
    for (const RegionUse& region : program.regions) memory_.emplace_back(region.bytes, 0u);
  }

  void run(const Entry& entry) {
    for (const ProgramPort& port : entry.inputs) write(port.buffer);
    for (int c = entry.first_chain; c < entry.first_chain + entry.chain_count; ++c)
      run_chain(program_.chains[static_cast<size_t>(c)]);
    for (const ProgramPort& port : entry.outputs) expect_intact(port.buffer, "at the end");
  }

 private:
  BufferId root(BufferId id) const {
    while (program_[id].view_of) id = *program_[id].view_of;
    return id;
  }
  uint32_t* bytes_of(BufferId id) { return memory_.at(program_[id].region - 1u).data() + program_[id].offset; }
  unsigned& version(BufferId id) { return written_[static_cast<size_t>(root(id).index)]; }

  void write(BufferId id) {
    version(id) = ++writes_;
    std::fill_n(bytes_of(root(id)), program_[root(id)].bytes, writes_);
  }

  void expect_intact(BufferId id, const std::string& when) {
    if (!id.valid() || version(id) == 0) return;
    const uint32_t* bytes = bytes_of(id);
    const bool intact = std::all_of(bytes, bytes + program_[id].bytes, [&](uint32_t b) { return b == version(id); });
    EXPECT_TRUE(intact) << program_[id].name << " " << when;
  }

  /// The steps of a chain take turns; what they leave for each other stays.
  void run_chain(const Chain& chain) {
    const int turns = chain.step_count == 1 ? 1 : 3;
    for (int turn = 0; turn < turns; ++turn) {
      for (int s = 0; s < chain.step_count; ++s) run_step(program_.steps[static_cast<size_t>(chain.first_step + s)]);
    }
  }

  static bool in_place(const ProgramStep& step, int operand) {
    return std::ranges::any_of(step.in_place, [&](const InPlace& pair) { return pair.input_operand == operand; });
  }

  void run_step(const ProgramStep& step) {
    const BufferId output = step.operands[kOutput].buffer, scratch = step.operands[kScratch].buffer;
    for (const int i : {kFirst, kSecond})
      expect_intact(step.operands[static_cast<size_t>(i)].buffer, "before " + step.name);
    if (scratch.valid()) write(scratch);
    for (const int i : {kFirst, kSecond})
      expect_intact(step.operands[static_cast<size_t>(i)].buffer, "beside scratch of " + step.name);
    write(output);
    if (scratch.valid()) expect_intact(scratch, "scratch beside the output of " + step.name);
    for (const int i : {kFirst, kSecond}) {
      const BufferId input = step.operands[static_cast<size_t>(i)].buffer;
      if (!in_place(step, i) && root(input) != root(output)) expect_intact(input, "not in place, after " + step.name);
    }
  }

  const Program& program_;
  std::vector<std::vector<uint32_t>> memory_;
  std::vector<unsigned> written_;  ///< by root: number of its last write
  unsigned writes_ = 0;
};

void expect_well_placed(const Program& program) {
  for (const Buffer& buffer : program.buffers) {
    if (buffer.region == 0) continue;
    EXPECT_EQ(buffer.offset % buffer.alignment, 0u) << buffer.name;
    EXPECT_LE(buffer.offset + buffer.bytes, program.regions.at(buffer.region - 1u).bytes) << buffer.name;
    EXPECT_EQ(buffer.region, buffer.kind == BufferKind::kState ? kStateRegion : kArenaRegion);
  }
  for (const RegionUse& region : program.regions) EXPECT_EQ(region.bytes % 16, 0u);
}

TEST(Plan, NothingOverwritesWhatIsStillNeeded) {
  for (uint64_t seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Program program = RandomProgram(seed).make();
    plan_memory(program);
    expect_well_placed(program);
    Player player(program);
    Random random(seed);
    for (int run = 0; run < 6; ++run) player.run(random.pick(program.entries));
  }
}

TEST(Plan, IsTheSameEveryTime) {
  Program a = RandomProgram(7).make(), b = RandomProgram(7).make();
  plan_memory(a);
  plan_memory(b);
  for (size_t i = 0; i < a.buffers.size(); ++i) EXPECT_EQ(a.buffers[i].offset, b.buffers[i].offset);
}

TEST(Plan, StaysCloseToTheLowerBound) {
  double worst = 0, sum = 0;
  constexpr int kPrograms = 200;
  for (uint64_t seed = 1000; seed < 1000 + kPrograms; ++seed) {
    Program program = RandomProgram(seed).make();
    plan_memory(program);
    const PlanSummary summary = describe_plan(program);
    EXPECT_GE(summary.arena_bytes, summary.lower_bound);
    const double excess = static_cast<double>(summary.arena_bytes) / summary.lower_bound - 1;
    worst = std::max(worst, excess);
    sum += excess;
  }
  EXPECT_LT(worst, 0.20);
  EXPECT_LT(sum / kPrograms, 0.02);
}

/// in -> a -> b -> out, sizes 100, 400, 300, 20.
Program line_of_layers() {
  Program program;
  const BufferId in = add_buffer(program, 100), a = add_buffer(program, 400), b = add_buffer(program, 300);
  const BufferId out = add_buffer(program, 20);
  add_step(program, {in, in, a, {}});
  add_step(program, {a, a, b, {}});
  add_step(program, {b, b, out, {}});
  program.entries.push_back(whole_program(program, {in}, {out}));
  return program;
}

TEST(Plan, ALineOfLayersNeedsItsLargestPair) {
  Program program = line_of_layers();
  plan_memory(program);
  const PlanSummary summary = describe_plan(program);
  EXPECT_EQ(summary.arena_bytes, 704u);
  EXPECT_EQ(summary.lower_bound, 704u);
}

TEST(Plan, ComputesInPlaceOnlyOverADyingInput) {
  for (const bool dies : {true, false}) {
    Program program;
    const BufferId in = add_buffer(program, 100), out = add_buffer(program, 100), last = add_buffer(program, 10);
    add_step(program, {in, in, out, {}}, {{kFirst, kOutput}, {kSecond, kOutput}});
    add_step(program, {out, dies ? out : in, last, {}});
    program.entries.push_back(whole_program(program, {in}, {last}));
    plan_memory(program);
    EXPECT_EQ(program[in].offset == program[out].offset, dies);
    EXPECT_EQ(program.regions[0].bytes, dies ? 112u : 224u);
  }
}

// The second image's input still lies where an output of the whole batch would be written.
TEST(Plan, ABatchInPlaceGoesImageByImage) {
  Program program;
  const BufferId in = add_buffer(program, 200), out = add_buffer(program, 200);
  for (const uint32_t image : {0u, 1u}) {
    add_step(program, {in, in, out, {}}, {{kFirst, kOutput}, {kSecond, kOutput}});
    for (OperandRef& operand : program.steps.back().operands) operand.offset = image * 100;
  }
  program.entries.push_back(whole_program(program, {in}, {out}));
  plan_memory(program);
  EXPECT_EQ(program.regions[0].bytes, 208u);

  program.steps[0].operands[kOutput].offset = 100;  // in another order it would overwrite the second image
  program.steps[1].operands[kOutput].offset = 0;
  plan_memory(program);
  EXPECT_EQ(program.regions[0].bytes, 400u);
}

TEST(Plan, EntriesShareTheArenaAndStatesDoNot) {
  Program program;
  const BufferId state = add_buffer(program, 30, 4, BufferKind::kState), a = add_buffer(program, 100);
  const BufferId b = add_buffer(program, 90);
  add_step(program, {a, a, state, {}});
  add_step(program, {b, state, b, {}});
  Entry first, second;
  first.chain_count = second.chain_count = second.first_chain = 1;
  first.inputs = {port(a)};
  second.outputs = {port(b)};
  program.entries = {first, second};
  plan_memory(program);
  ASSERT_EQ(program.regions.size(), 2u);
  EXPECT_EQ(program.regions[0].bytes, 112u);
  EXPECT_EQ(program.regions[1].bytes, 32u);
  EXPECT_EQ(program.regions[1].kind, RegionKind::kState);
}

TEST(Plan, DescribesLifetimes) {
  Program program = line_of_layers();
  plan_memory(program);
  const std::vector<PlanRow> rows = describe_plan(program).rows;
  ASSERT_EQ(rows.size(), 4u);
  const std::vector<std::pair<int, int>> expected = {{-1, 0}, {0, 1}, {1, 2}, {2, 3}};
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].first_step, expected[i].first) << i;
    EXPECT_EQ(rows[i].last_step, expected[i].second) << i;
  }
}

TEST(Plan, RefusesWhatAnOperandCannotAddress) {
  Program program;
  const BufferId in = add_buffer(program, 200'000'000), out = add_buffer(program, 200'000'000);
  add_step(program, {in, in, out, {}});
  program.entries.push_back(whole_program(program, {in}, {out}));
  EXPECT_THROW(plan_memory(program), UserError);
}

// Four blocks for which neither order of size nor of time is best; found by trying all orders.
TEST(Placement, FindsTheBestOfASmallCase) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    std::vector<Block> blocks;
    for (int i = 0; i < 6; ++i) {
      const int first = static_cast<int>(random.integer(0, 6));
      const int last = first + static_cast<int>(random.integer(0, 4));
      blocks.push_back({.alignment = 1, .pieces = {{static_cast<uint32_t>(random.integer(1, 20)), first, last}}});
    }
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    uint64_t best = UINT64_MAX;
    do {  // every optimum is the first fit of some order
      std::vector<uint64_t> offsets(blocks.size());
      uint64_t end = 0;
      for (size_t i = 0; i < order.size(); ++i) {
        const Piece& piece = blocks[order[i]].pieces[0];
        uint64_t at = 0;
        for (bool moved = true; moved;) {
          moved = false;
          for (size_t j = 0; j < i; ++j) {
            const Piece& other = blocks[order[j]].pieces[0];
            const uint64_t other_end = offsets[order[j]] + other.bytes;
            if (live_together(piece, other) && at < other_end && offsets[order[j]] < at + piece.bytes) {
              at = other_end;
              moved = true;
            }
          }
        }
        offsets[order[i]] = at;
        end = std::max(end, at + piece.bytes);
      }
      best = std::min(best, end);
    } while (std::ranges::next_permutation(order).found);
    EXPECT_EQ(place_blocks(blocks).bytes, best) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rush
