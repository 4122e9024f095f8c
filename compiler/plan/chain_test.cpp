// SPDX-License-Identifier: Apache-2.0
//
// Random chains are played in the runtime's order, with ring slots that remember which row they hold.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/plan/plan.h"
#include "ops/op_def.h"
#include "tests/support/random.h"
#include "tests/support/window.h"

namespace rush {
namespace {

/// Operands: 0 and 1 in, 2 out.
struct WindowParams {
  Rows first;
  Rows second;
  Rows out;
};

constexpr KernelContract kContract = {nullptr, sizeof(WindowParams), 3, 0x4, 0};
constexpr HostKernel kHost = {.contract = &kContract, .run = nullptr, .packing = {}};
const KernelFamily kFamily = {901, "window", "window", {"scalar", "scalar", "scalar"}, &kHost};
constexpr uint32_t kRowBytes = 24;

struct Map {
  BufferId buffer;
  int rows = 0;
  int writers = 1;
};

Map add_map(Program& program, int rows) {
  Buffer buffer;
  buffer.name = fmt::format("m{}", program.buffers.size());
  buffer.bytes = static_cast<uint32_t>(rows) * kRowBytes;
  program.buffers.push_back(buffer);
  return {{static_cast<int32_t>(program.buffers.size()) - 1}, rows};
}

void add_step(Program& program, const WindowParams& params, std::vector<BufferId> operands,
              const std::vector<Window>& windows) {
  ProgramStep step;
  step.family = &kFamily;
  step.name = fmt::format("s{}", program.steps.size());
  step.params = params_bytes(params);
  step.rows = params.out.ring_rows;
  for (const BufferId id : operands) step.operands.push_back({id, 0});
  for (size_t i = 0; i < windows.size(); ++i)
    step.row_dependencies.push_back(windows[i].dependency(static_cast<int>(i)));
  step.rows_field = {offsetof(WindowParams, first), offsetof(WindowParams, second), offsetof(WindowParams, out)};
  program.chains.push_back({.first_step = static_cast<int>(program.steps.size()), .step_count = 1, .links = {}});
  program.steps.push_back(std::move(step));
}

Rows whole(const Map& map) { return whole_map(kRowBytes, static_cast<uint32_t>(map.rows)); }

Map add_window(Program& program, const Map& in, const Window& window) {
  const Map out = add_map(program, window.rows_out(in.rows));
  add_step(program, {whole(in), whole(in), whole(out)}, {in.buffer, {}, out.buffer}, {window});
  return out;
}

Map add_sum(Program& program, const Map& a, const Map& b) {
  const Map out = add_map(program, a.rows);
  add_step(program, {whole(a), whole(b), whole(out)}, {a.buffer, b.buffer, out.buffer}, {{}, {}});
  return out;
}

/// A map whose rows two steps write, half each, as the parts of a concatenation.
Map add_halves(Program& program, const Map& in, const Window& first, const Window& second) {
  Map out = add_window(program, in, first);
  out.writers = 2;
  add_step(program, {whole(in), whole(in), whole(out)}, {in.buffer, {}, out.buffer}, {second});
  program.steps[program.steps.size() - 2].name = "first half";
  program.steps.back().operands[2].offset = kRowBytes / 2;
  return out;
}

void add_entry(Program& program, const Map& in, const Map& out) {
  Entry entry;
  entry.chain_count = static_cast<int>(program.chains.size());
  entry.inputs.emplace_back().buffer = in.buffer;
  entry.outputs.emplace_back().buffer = out.buffer;
  program.entries.push_back(entry);
}

Rows rows_of(const ProgramStep& step, size_t operand) {
  Rows rows;
  std::memcpy(&rows, step.params.data() + step.rows_field[operand], sizeof rows);
  return rows;
}

/// Which row each half of a slot holds.
using Halves = std::array<int, 2>;

/// Runs a chain as rush_step() does: the last step that is ready, one band.
class ChainPlayer {
 public:
  explicit ChainPlayer(const Program& program) : program_(program), done_(program.steps.size(), 0) {
    for (const Buffer& buffer : program.buffers) slots_.emplace_back(buffer.bytes / kRowBytes, Halves{-1, -1});
    const BufferId in = program.entries[0].inputs[0].buffer;
    std::vector<Halves>& rows = slots_[static_cast<size_t>(in.index)];
    for (size_t y = 0; y < rows.size(); ++y) rows[y].fill(static_cast<int>(y));
  }

  void run() {
    const Chain& chain = program_.chains[0];
    while (true) {
      int step = chain.step_count - 1;
      while (step >= 0 && !ready(chain, step)) --step;
      if (step < 0) break;
      run_band(chain, step);
    }
    for (int s = 0; s < chain.step_count; ++s) EXPECT_EQ(done_[static_cast<size_t>(s)], step_at(s).rows) << "stuck";
  }

 private:
  const ProgramStep& step_at(int s) const { return program_.steps[static_cast<size_t>(s)]; }

  int band_end(const Chain& chain, int s) const {
    const ChainLink& link = chain.links[static_cast<size_t>(s)];
    const int done = done_[static_cast<size_t>(s)];
    return std::min<int>(step_at(s).rows, done + (done == 0 ? link.first_rows : link.band_rows));
  }

  bool ready(const Chain& chain, int s) const {
    if (done_[static_cast<size_t>(s)] == step_at(s).rows) return false;
    for (const auto& [producer, dependency] : chain.links[static_cast<size_t>(s)].producers) {
      const int wanted = band_end(chain, s) * dependency.stride + dependency.lead;
      if (done_[static_cast<size_t>(producer)] < std::min<int>(step_at(producer).rows, wanted)) return false;
    }
    return true;
  }

  void run_band(const Chain& chain, int s) {
    const int end = band_end(chain, s);
    for (int y = done_[static_cast<size_t>(s)]; y < end; ++y) {
      for (const RowDependency& dependency : step_at(s).row_dependencies) read_window(s, y, dependency);
      write_row(step_at(s), y);
    }
    done_[static_cast<size_t>(s)] = end;
  }

  void write_row(const ProgramStep& step, int y) {
    Halves& halves = slot(step, 2, y);
    const bool second_only = step.operands[2].offset != 0, first_only = step.name == "first half";
    if (!second_only) halves[0] = y;
    if (!first_only) halves[1] = y;
  }

  void read_window(int s, int y, const RowDependency& d) {
    const auto operand = static_cast<size_t>(d.operand);
    const int pad = d.span - d.stride - d.lead, rows_in = map_rows(step_at(s).operands[operand].buffer);
    for (int row = std::max(0, y * d.stride - pad); row < std::min(rows_in, y * d.stride - pad + d.span); ++row)
      EXPECT_EQ(slot(step_at(s), operand, row), (Halves{row, row}))
          << "row " << y << " of step " << s << " reads row " << row;
  }

  /// Rows of the whole map, ring or not.
  int map_rows(BufferId buffer) const {
    for (const ProgramStep& step : program_.steps) {
      if (step.operands[2].buffer == buffer) return step.rows;
    }
    return static_cast<int>(slots_[static_cast<size_t>(buffer.index)].size());
  }

  Halves& slot(const ProgramStep& step, size_t operand, int row) {
    const uint32_t offset = row_offset(rows_of(step, operand), static_cast<uint32_t>(row));
    return slots_[static_cast<size_t>(step.operands[operand].buffer.index)].at(offset / kRowBytes);
  }

  const Program& program_;
  std::vector<int> done_;
  std::vector<std::vector<Halves>> slots_;  ///< by buffer and slot
};

/// Windows one after another, now and then a sum with an earlier map of the same height.
Program random_chain(Random& random) {
  Program program;
  const Map in = add_map(program, static_cast<int>(random.integer(4, 40)));
  std::vector<Map> maps = {in};
  while (maps.size() < 3 || (maps.size() < 9 && random.chance(0.8))) {
    const Map& last = maps.back();
    const auto earlier = std::ranges::find(maps.begin(), maps.end() - 1, last.rows, &Map::rows);
    if (earlier != maps.end() - 1 && earlier->writers + last.writers < 3 && random.chance(0.4)) {
      maps.push_back(add_sum(program, last, *earlier));
      continue;
    }
    const Map& from = random.chance(0.1) ? in : last;  // a branch of its own
    Window window{static_cast<int>(random.integer(1, 5)), static_cast<int>(random.integer(1, 3)), 0};
    window.pad = static_cast<int>(random.integer(0, window.size - 1));
    if (from.rows + 2 * window.pad < window.size) window = {};
    const bool halves = random.chance(0.3) && window.size > 2 && window.pad > 0;
    maps.push_back(halves ? add_halves(program, from, window, {window.size - 2, window.stride, window.pad - 1})
                          : add_window(program, from, window));
  }
  add_entry(program, in, maps.back());
  return program;
}

TEST(Chain, NeverOverwritesARowThatIsStillNeeded) {
  for (uint64_t seed = 0; seed < 500 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Program program = random_chain(random);
    make_chain(program, 0, static_cast<int>(program.steps.size()));
    ASSERT_EQ(program.chains.size(), 1u);
    EXPECT_EQ(program.entries[0].chain_count, 1);
    ChainPlayer(program).run();
  }
}

/// A ring with one row less than it was given must lose a row, or the rings are larger than need be.
TEST(Chain, RingsAreNoLargerThanNeeded) {
  Program program;
  const Map in = add_map(program, 30);
  const Map a = add_window(program, in, {3, 1, 1}), b = add_window(program, a, {3, 1, 1});
  const Map c = add_window(program, b, {3, 2, 1}), d = add_window(program, c, {1, 1, 0});
  add_entry(program, in, d);
  make_chain(program, 0, 4);
  EXPECT_EQ(program[a.buffer].bytes, 3 * kRowBytes);
  EXPECT_EQ(program[b.buffer].bytes, 3 * kRowBytes);
  EXPECT_EQ(program[c.buffer].bytes, 1 * kRowBytes);
  EXPECT_EQ(program[in.buffer].bytes, 30 * kRowBytes) << "an input stays whole";
  EXPECT_EQ(program[d.buffer].bytes, 15 * kRowBytes) << "an output stays whole";
}

// a -> window of 3 -> sum with a: the window is one row ahead of the sum.
TEST(Chain, AShortcutKeepsRowsLonger) {
  Program program;
  const Map in = add_map(program, 20);
  const Map a = add_window(program, in, {}), b = add_window(program, a, {3, 1, 1});
  add_entry(program, in, add_sum(program, a, b));
  make_chain(program, 0, 3);
  EXPECT_EQ(program[a.buffer].bytes, 3 * kRowBytes);
  EXPECT_EQ(program[b.buffer].bytes, 1 * kRowBytes);
  EXPECT_EQ(program.chains[0].links[2].producers.size(), 2u);
}

TEST(Chain, SetsTheSameRingForWriterAndReader) {
  Program program;
  const Map in = add_map(program, 12);
  const Map a = add_window(program, in, {3, 1, 1});
  add_entry(program, in, add_window(program, a, {3, 1, 1}));
  make_chain(program, 0, 2);
  const Rows written = rows_of(program.steps[0], 2), read = rows_of(program.steps[1], 0);
  EXPECT_EQ(written.ring_rows, 3);
  EXPECT_EQ(written.reciprocal, (32768 + 2) / 3);
  EXPECT_EQ(written.row_bytes, kRowBytes);
  EXPECT_EQ(std::memcmp(&written, &read, sizeof read), 0);
  EXPECT_TRUE(rows_hold(written, 12));
}

TEST(Chain, LeavesMapsWholeThatOthersRead) {
  Program program;
  const Map in = add_map(program, 12);
  const Map a = add_window(program, in, {}), b = add_window(program, a, {});
  add_entry(program, in, add_sum(program, a, b));
  make_chain(program, 0, 2);
  EXPECT_EQ(program[a.buffer].bytes, 12 * kRowBytes) << "the third step, not of the chain, reads it";
  EXPECT_EQ(program.chains.size(), 2u);
  EXPECT_EQ(program.entries[0].chain_count, 2);
}

TEST(Chain, ARingCanHaveTwoWriters) {
  Program program;
  const Map in = add_map(program, 12);
  add_entry(program, in, add_window(program, add_halves(program, in, {3, 1, 1}, {5, 1, 2}), {3, 1, 1}));
  make_chain(program, 0, 3);
  EXPECT_EQ(program[program.steps[0].operands[2].buffer].bytes, 3 * kRowBytes);
  EXPECT_EQ(program.chains[0].links[2].producers.size(), 2u);
}

// The second image of a batch, made by another step, lies behind the first in one buffer.
TEST(Chain, LeavesMapsWholeThatAreOneOfMany) {
  Program program;
  const Map in = add_map(program, 12);
  const Map a = add_window(program, in, {});
  program[a.buffer].bytes *= 2;
  add_step(program, {whole(in), whole(in), whole(a)}, {in.buffer, {}, a.buffer}, {{}});
  program.steps.back().operands[2].offset = 12 * kRowBytes;
  add_entry(program, in, add_window(program, a, {3, 1, 1}));
  make_chain(program, 0, 3);
  EXPECT_EQ(program[a.buffer].bytes, 24 * kRowBytes);
}

TEST(Chain, RenumbersTheEntriesBehind) {
  Program program;
  const Map in = add_map(program, 12);
  add_window(program, add_window(program, add_window(program, in, {}), {}), {});
  Entry first, second;
  first.chain_count = 2;
  second.first_chain = 2;
  second.chain_count = 1;
  program.entries = {first, second};
  make_chain(program, 0, 2);
  EXPECT_EQ(program.entries[0].chain_count, 1);
  EXPECT_EQ(program.entries[1].first_chain, 1);
}

/// What make_chain() says about two windows, spoiled.
std::string complaint(const std::function<void(Program&)>& spoil) {
  Program program;
  const Map in = add_map(program, 12);
  add_entry(program, in, add_window(program, add_window(program, in, {}), {3, 1, 1}));
  program.steps[1].origin = {"features.2", "model.py:41"};
  spoil(program);
  try {
    make_chain(program, 0, 2);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Chain, NamesTheLayerThatCannotRunInBands) {
  const std::string whole =
      "error: window \"features.2\" (model.py:41): cannot run band by band: it needs all of its input at once\n"
      "  fix: stream only layers before it, or only layers behind it";
  EXPECT_EQ(complaint([](Program&) {}), "");
  EXPECT_EQ(complaint([](Program& p) { p.steps[1].row_dependencies.clear(); }), whole);
  EXPECT_EQ(complaint([](Program& p) { p.steps[1].row_dependencies[0].span = 0; }), whole);
  EXPECT_EQ(complaint([](Program& p) { p.steps[1].rows_field.clear(); }), whole);
  EXPECT_EQ(complaint([](Program& p) { p.steps[0].rows_field[2] = -1; }),
            "error: window \"s0\": cannot run band by band: it does not make its output row by row\n"
            "  fix: stream only layers before it, or only layers behind it");
}

TEST(Chain, AStepBelongsToOneChain) {
  Program program;
  const Map in = add_map(program, 12);
  add_entry(program, in, add_window(program, add_window(program, add_window(program, in, {}), {}), {}));
  make_chain(program, 0, 2);
  EXPECT_THROW(make_chain(program, 1, 2), UserError);
}

TEST(Chain, StaysInsideAnEntry) {
  EXPECT_THROW(complaint([](Program& p) { p.entries[0].chain_count = 1; }), InternalError);
}

}  // namespace
}  // namespace rush
