// SPDX-License-Identifier: Apache-2.0
//
// Random programs are planned and then played with kernels as unkind as their order allows: every byte remembers
// which write filled it.
#include "compiler/plan/plan.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compiler/plan/lifetime.h"
#include "compiler/plan/placement.h"
#include "compiler/plan/stream.h"
#include "ops/op_def.h"
#include "tests/support/random.h"
#include "tests/support/window.h"

namespace rush {
namespace {

// Operands 0 and 1 are read, 2 is written, 3 is scratch. Bytes of what is no map; of a map its Rows tell.
struct TestParams {
  Rows rows[3];
  uint32_t bytes[4];
  uint32_t step_rows;
  uint32_t keeps_scratch = 0;
};

bool extents_of(const void* params, Extents* extents) {
  const TestParams& p = *static_cast<const TestParams*>(params);
  for (int i = 0; i < 4; ++i)
    extents->bytes[i] = i < 3 && p.rows[i].row_bytes != 0 ? rows_bytes(p.rows[i]) : p.bytes[i];
  extents->rows = p.step_rows;
  return true;
}

constexpr int kAtOnce = 3;
constexpr KernelContract kContract = {extents_of, sizeof(TestParams), 4, 0xc, 0};
constexpr HostKernel kAnyOrder = {.contract = &kContract, .run = nullptr, .packing = {}};
constexpr HostKernel kInOrder = {
    .contract = &kContract, .run = nullptr, .packing = {}, .rows_at_once = 1, .positions_at_once = kAtOnce};
constexpr HostKernel kInPairs = {.contract = &kContract, .run = nullptr, .packing = {}, .rows_at_once = 2};
const KernelFamily kAnyFamily = {900, "any", "test", {"scalar", "scalar", "scalar"}, &kAnyOrder};
constexpr HostKernel kFillsScratch = {
    .contract = &kContract, .run = nullptr, .packing = {}, .scratch_operand = 3, .rows_at_once = 1};
const KernelFamily kFillsFamily = {903, "fills", "test", {"scalar", "scalar", "scalar"}, &kFillsScratch};
const KernelFamily kPairsFamily = {902, "pairs", "test", {"scalar", "scalar", "scalar"}, &kInPairs};
const KernelFamily kOrderedFamily = {901, "ordered", "test", {"scalar", "scalar", "scalar"}, &kInOrder};

enum Operand { kFirst, kSecond, kOutput, kScratch };
constexpr uint32_t kWidth = 4;  // positions in a row

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

ProgramStep& push_step(Program& program, ProgramStep step) {
  step.name = fmt::format("s{}", program.steps.size());
  program.chains.push_back({.first_step = static_cast<int>(program.steps.size()), .step_count = 1, .links = {}});
  program.steps.push_back(std::move(step));
  return program.steps.back();
}

/// Touches its operands wholly, or `bytes` from an offset on.
ProgramStep& add_step(Program& program, std::vector<BufferId> operands, std::vector<InPlace> in_place = {},
                      OperandRef slice = {}) {
  ProgramStep step;
  step.family = &kAnyFamily;
  TestParams params = {.rows = {}, .bytes = {}, .step_rows = 1};
  for (size_t i = 0; i < operands.size(); ++i) {
    step.operands.push_back({operands[i], slice.offset});
    if (operands[i].valid()) params.bytes[i] = slice.offset == 0 ? program[operands[i]].bytes : slice.offset;
  }
  step.params = params_bytes(params);
  step.in_place = std::move(in_place);
  return push_step(program, std::move(step));
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

struct Map {
  BufferId buffer;
  int rows = 1;
  uint32_t row_bytes = 1;
};

Rows whole(const Map& map) { return whole_map(map.row_bytes, static_cast<uint32_t>(map.rows)); }

Map add_map(Program& program, int rows, uint32_t pixel_bytes, uint32_t alignment = 1) {
  const uint32_t row_bytes = pixel_bytes * kWidth;
  return {add_buffer(program, static_cast<uint32_t>(rows) * row_bytes, alignment), rows, row_bytes};
}

/// A step over maps, row by row, each read through one window.
ProgramStep& add_row_step(Program& program, const std::vector<Map>& in, const Map& out, const Window& window,
                          bool in_order) {
  ProgramStep step;
  step.family = in_order ? &kOrderedFamily : &kAnyFamily;
  TestParams params = {.rows = {}, .bytes = {}, .step_rows = static_cast<uint32_t>(out.rows)};
  step.operands.assign(4, {});
  step.rows_field.assign(4, -1);
  const auto place = [&](size_t operand, const Map& map) {
    params.rows[operand] = whole(map);
    step.operands[operand] = {map.buffer};
    step.rows_field[operand] = static_cast<int>(offsetof(TestParams, rows) + operand * sizeof(Rows));
  };
  for (size_t i = 0; i < in.size(); ++i) {
    place(i, in[i]);
    step.row_dependencies.push_back(window.dependency(static_cast<int>(i)));
  }
  place(kOutput, out);
  step.rows = static_cast<uint16_t>(out.rows);
  step.params = params_bytes(params);
  return push_step(program, std::move(step));
}

/// Random entries over random steps: windows, sums in place, points, steps that take all at once, views, scratch,
/// states, runs of steps in chains.
class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : random_(seed) {}

  Program make() {
    const BufferId state = add_buffer(program_, small(), alignment(), BufferKind::kState);
    const BufferId shared = add_buffer(program_, small(), alignment());
    for (int64_t e = random_.integer(1, 2); e > 0; --e) add_entry(state, shared);
    return program_;
  }

  /// High maps from one input to one output, all row by row.
  Program make_of_maps() {
    Entry entry;
    known_.push_back(new_map(static_cast<int>(random_.integer(12, 30)), pixel()));
    entry.inputs.push_back(port(known_.back().buffer));
    entry.inputs.back().kept = random_.chance(0.2);
    for (int64_t i = random_.integer(3, 9); i > 0; --i) add_row_step(random_.real(0, 0.85));
    entry.outputs.push_back(port(known_.back().buffer));
    entry.chain_count = static_cast<int>(program_.chains.size());
    program_.entries.push_back(entry);
    return program_;
  }

 private:
  uint32_t small() { return static_cast<uint32_t>(random_.integer(1, 60)); }
  uint32_t alignment() { return random_.pick(std::vector<uint32_t>{1, 1, 1, 4, 8, 16}); }
  int rows() { return static_cast<int>(random_.integer(1, 12)); }
  uint32_t pixel() { return static_cast<uint32_t>(random_.integer(1, 5)); }
  Map new_map(int rows, uint32_t pixel_bytes) { return add_map(program_, rows, pixel_bytes, alignment()); }

  void add_entry(BufferId state, BufferId shared) {
    Entry entry;
    entry.first_chain = static_cast<int>(program_.chains.size());
    known_.clear();
    for (int64_t i = random_.integer(1, 2); i > 0; --i) {
      known_.push_back(new_map(rows() + 4, pixel()));
      entry.inputs.push_back(port(known_.back().buffer));
      entry.inputs.back().kept = random_.chance(0.2);
    }
    if (program_.entries.empty()) add_step(program_, {state, state, shared, {}});
    for (int64_t i = random_.integer(1, 10); i > 0; --i) add_random_step(shared);
    add_step(program_, {known_.back().buffer, shared, state, {}});
    for (int64_t i = random_.integer(1, 2); i > 0; --i) entry.outputs.push_back(port(random_.pick(known_).buffer));
    entry.chain_count = static_cast<int>(program_.chains.size()) - entry.first_chain;
    program_.entries.push_back(entry);
  }

  const Map& source() {
    return random_.chance(0.7) ? known_.back() : known_[size_t(random_.integer(0, int64_t(known_.size()) - 1))];
  }

  void add_random_step(BufferId shared) {
    const double kind = random_.real(0, 1);
    if (kind < 0.85) return add_row_step(kind);
    const Map in = source(), out = new_map(rows(), pixel());
    add_step(program_, {in.buffer, random_.chance(0.5) ? shared : BufferId{}, out.buffer, {}});
    known_.push_back(out);
  }

  void add_row_step(double kind) {
    const Map in = source();
    Map out;
    if (kind < 0.45) {
      out = add_window(in);
    } else if (kind < 0.6) {
      out = new_map(in.rows, pixel());
      ProgramStep& step = rush::add_row_step(program_, {in}, out, {}, true);
      step.positions = {kWidth, in.row_bytes / kWidth, out.row_bytes / kWidth};
    } else {
      out = add_sum(in);
    }
    if (random_.chance(0.3)) add_scratch(program_.steps.back());
    if (random_.chance(0.1)) out.buffer = add_view(program_, out.buffer);
    known_.push_back(out);
  }

  Map add_window(const Map& in) {
    Window window{static_cast<int>(random_.integer(1, 4)), static_cast<int>(random_.integer(1, 3)), 0};
    window.pad = static_cast<int>(random_.integer(0, window.size - 1));
    if (in.rows + 2 * window.pad < window.size) window = {};
    const Map out = new_map(window.rows_out(in.rows), pixel());
    ProgramStep& step = rush::add_row_step(program_, {in}, out, window, random_.chance(0.8));
    if (random_.chance(0.25)) step.family = &kPairsFamily;
    return out;
  }

  Map add_sum(const Map& in) {
    const auto other = std::ranges::find_if(known_, [&](const Map& map) {
      return map.rows == in.rows && map.row_bytes == in.row_bytes && map.buffer != in.buffer && random_.chance(0.7);
    });
    std::vector<Map> maps = {in};
    if (other != known_.end()) maps.push_back(*other);
    const Map out = new_map(in.rows, in.row_bytes / kWidth);
    ProgramStep& step = rush::add_row_step(program_, maps, out, {}, random_.chance(0.8));
    for (size_t i = 0; i < maps.size(); ++i) step.in_place.push_back({static_cast<int>(i), kOutput});
    return out;
  }

  void add_scratch(ProgramStep& step) {
    step.operands[kScratch] = {add_buffer(program_, small(), alignment())};
    TestParams params;
    std::memcpy(&params, step.params.data(), sizeof params);
    params.bytes[kScratch] = program_.buffers.back().bytes;
    step.params = params_bytes(params);
  }

  Random random_;
  Program program_;
  std::vector<Map> known_;
};

/// Chains some of the steps that can be chained.
void chain_some(Program& program, Random& random) {
  for (int tries = 0; tries < 4; ++tries) {
    const int64_t count = std::ssize(program.steps);
    const int first = static_cast<int>(random.integer(0, count - 1));
    const int steps = static_cast<int>(random.integer(2, 6));
    if (first + steps > count) continue;
    Program chained = program;
    try {
      std::vector<int> band_rows;
      for (int s = 0; s < steps; ++s) band_rows.push_back(static_cast<int>(random.integer(1, 4)));
      make_chain(chained, first, steps, band_rows);
      program = chained;
    } catch (const UserError&) {      // some step takes all of its input at once
    } catch (const InternalError&) {  // steps of two entries
    }
  }
}

/// Plays a planned program. Each byte holds the number of the write that filled it.
class Player {
 public:
  Player(const Program& program, uint64_t seed) : program_(program), random_(seed), expected_(program.buffers.size()) {
    for (const RegionUse& region : program.regions) memory_.emplace_back(region.bytes, 0u);
  }

  void run(const Entry& entry) {
    for (const ProgramPort& port : entry.inputs) write_whole(port.buffer);
    for (int c = entry.first_chain; c < entry.first_chain + entry.chain_count; ++c)
      run_chain(program_.chains[static_cast<size_t>(c)]);
    for (const ProgramPort& port : entry.outputs) expect_whole(port.buffer, "at the end");
    for (const ProgramPort& port : entry.inputs) {
      if (port.kept) expect_whole(port.buffer, "kept");
    }
  }

 private:
  /// `count` bytes of a buffer: at `physical` in memory, at `logical` in the whole map.
  struct Place {
    BufferId buffer;
    uint32_t logical;
    uint32_t physical;
    uint32_t count;
  };

  BufferId root(BufferId id) const {
    while (program_[id].view_of) id = *program_[id].view_of;
    return id;
  }
  uint32_t& memory(const Place& place, uint32_t i) {
    const Buffer& buffer = program_[place.buffer];
    return memory_.at(buffer.region - 1u).at(buffer.offset + place.physical + i);
  }
  uint32_t& expected(const Place& place, uint32_t i) {
    std::vector<uint32_t>& all = expected_[static_cast<size_t>(root(place.buffer).index)];
    if (all.size() <= place.logical + i) all.resize(place.logical + i + 1, 0);
    return all[place.logical + i];
  }

  void write(const Place& place) {
    ++writes_;
    for (uint32_t i = 0; i < place.count; ++i) memory(place, i) = expected(place, i) = writes_;
  }
  void expect(const Place& place, const std::string& when) {
    for (uint32_t i = 0; i < place.count; ++i) {
      if (expected(place, i) == 0 || expected(place, i) == memory(place, i)) continue;
      ADD_FAILURE() << program_[place.buffer].name << " byte " << place.logical + i << " " << when;
      return;
    }
  }
  Place whole_of(BufferId id) const { return {id, 0, 0, program_[id].bytes}; }
  void write_whole(BufferId id) { write(whole_of(id)); }
  void expect_whole(BufferId id, const std::string& when) { expect(whole_of(id), when); }

  /// As the runtime does: one band of the last step that is ready.
  void run_chain(const Chain& chain) {
    if (chain.step_count == 1) return run_band(step(chain.first_step), 0, step(chain.first_step).rows);
    std::vector<int> done(static_cast<size_t>(chain.step_count), 0);
    for (int place = chain.step_count - 1; place >= 0;) {
      if (!ready(chain, place, done)) {
        --place;
        continue;
      }
      int& rows = done[static_cast<size_t>(place)];
      const int end = band_end(chain, place, rows);
      run_band(step(chain.first_step + place), rows, end);
      rows = end;
      place = chain.step_count - 1;
    }
  }
  const ProgramStep& step(int s) const { return program_.steps[static_cast<size_t>(s)]; }
  int band_end(const Chain& chain, int place, int done) const {
    const ChainLink& link = chain.links[size_t(place)];
    return std::min<int>(step(chain.first_step + place).rows, done + (done == 0 ? link.first_rows : link.band_rows));
  }
  bool ready(const Chain& chain, int place, const std::vector<int>& done) const {
    if (done[size_t(place)] == step(chain.first_step + place).rows) return false;
    for (const auto& [producer, dependency] : chain.links[size_t(place)].producers) {
      const int wanted = band_end(chain, place, done[size_t(place)]) * dependency.stride + dependency.lead;
      if (done[size_t(producer - chain.first_step)] < std::min<int>(step(producer).rows, wanted)) return false;
    }
    return true;
  }

  static TestParams params_of(const ProgramStep& step) {
    TestParams params;
    std::memcpy(&params, step.params.data(), sizeof params);
    return params;
  }
  Place row_of(const ProgramStep& step, size_t operand, int y) const {
    const Rows rows = params_of(step).rows[operand];
    const OperandRef& ref = step.operands[operand];
    return {ref.buffer, ref.offset + static_cast<uint32_t>(y) * rows.row_bytes,
            ref.offset + row_offset(rows, static_cast<uint32_t>(y)), rows.row_bytes};
  }
  static bool is_map(const ProgramStep& step, size_t operand) {
    return operand < step.rows_field.size() && step.rows_field[operand] >= 0;
  }
  static bool in_place(const ProgramStep& step, int operand) {
    return std::ranges::any_of(step.in_place, [&](const InPlace& pair) { return pair.input_operand == operand; });
  }
  /// Rows of the map behind an input.
  int map_rows(const ProgramStep& reader, size_t operand) const {
    for (const ProgramStep& made : program_.steps) {
      if (made.operands[kOutput].buffer.valid() &&
          root(made.operands[kOutput].buffer) == root(reader.operands[operand].buffer))
        return made.rows;
    }
    return params_of(reader).rows[operand].ring_rows;
  }

  std::vector<Place> inputs_of_row(const ProgramStep& step, size_t operand, int y) const {
    const OperandRef& ref = step.operands[operand];
    if (!ref.buffer.valid()) return {};
    if (!is_map(step, operand)) return {{ref.buffer, ref.offset, ref.offset, params_of(step).bytes[operand]}};
    std::vector<Place> rows;
    for (const RowDependency& d : step.row_dependencies) {
      if (d.operand != static_cast<int>(operand)) continue;
      const int first = (y + 1) * d.stride + d.lead - d.span;
      for (int row = std::max(0, first); row < std::min(map_rows(step, operand), first + d.span); ++row)
        rows.push_back(row_of(step, operand, row));
    }
    return rows;
  }

  void expect_inputs(const ProgramStep& step, int y, bool after, const std::string& when) {
    for (const size_t operand : {size_t{kFirst}, size_t{kSecond}}) {
      if (!step.operands[operand].buffer.valid() || (after && in_place(step, static_cast<int>(operand)))) continue;
      if (after && step.operands[kOutput].buffer.valid() &&
          root(step.operands[operand].buffer) == root(step.operands[kOutput].buffer))
        continue;
      for (const Place& place : inputs_of_row(step, operand, y))
        expect(place, fmt::format("{} row {} of {}", when, y, step.name));
    }
  }

  Place output_of(const ProgramStep& step, int y) const {
    const OperandRef& ref = step.operands[kOutput];
    return is_map(step, kOutput) ? row_of(step, kOutput, y)
                                 : Place{ref.buffer, ref.offset, ref.offset, params_of(step).bytes[kOutput]};
  }

  /// Byte by byte, each input that may be shared being read just before it is written over.
  void write_row(const ProgramStep& step, int y) {
    const Place out = output_of(step, y);
    ++writes_;
    for (uint32_t i = 0; i < out.count; ++i) {
      for (const InPlace& pair : step.in_place) {
        for (Place in : inputs_of_row(step, static_cast<size_t>(pair.input_operand), y)) {
          if (i >= in.count) continue;
          in = {in.buffer, in.logical + i, in.physical + i, 1};
          expect(in, fmt::format("under byte {} of row {} of {}", i, y, step.name));
        }
      }
      memory(out, i) = expected(out, i) = writes_;
    }
  }

  void run_band(const ProgramStep& step, int begin, int end) {
    const BufferId scratch = step.operands[kScratch].buffer;
    const bool whole_maps = is_map(step, kFirst) && params_of(step).rows[kFirst].reciprocal == 0 &&
                            params_of(step).rows[kOutput].reciprocal == 0;
    if (scratch.valid()) write_whole(scratch);
    if (step.positions && whole_maps) {
      run_points(step, begin, end);
    } else {
      const int at_once = step.family->host->rows_at_once > 0 ? step.family->host->rows_at_once : end - begin;
      for (int first = begin; first < end; first += at_once) run_rows(step, first, std::min(end, first + at_once));
    }
    if (scratch.valid()) expect_whole(scratch, "beside the output of " + step.name);
  }

  void run_rows(const ProgramStep& step, int begin, int end) {
    for (int y = begin; y < end; ++y) expect_inputs(step, y, false, "before");
    for (int y = begin; y < end; ++y) write_row(step, y);
    for (int y = begin; y < end; ++y) expect_inputs(step, y, true, "after");
  }

  void run_points(const ProgramStep& step, int begin, int end) {
    const uint32_t in_bytes = step.positions->in_bytes, out_bytes = step.positions->out_bytes;
    const uint32_t last = static_cast<uint32_t>(end) * kWidth;
    uint32_t count = static_cast<uint32_t>(random_.integer(1, kAtOnce));
    for (uint32_t p = static_cast<uint32_t>(begin) * kWidth; p < last; p += count, count = kAtOnce) {
      const uint32_t points = std::min(count, last - p);
      const Place in{step.operands[kFirst].buffer, p * in_bytes, p * in_bytes, points * in_bytes};
      expect(in, fmt::format("before point {} of {}", p, step.name));
      write({step.operands[kOutput].buffer, p * out_bytes, p * out_bytes, points * out_bytes});
      expect(in, fmt::format("after point {} of {}", p, step.name));
    }
  }

  const Program& program_;
  Random random_;
  std::vector<std::vector<uint32_t>> memory_;
  std::vector<std::vector<uint32_t>> expected_;  ///< by root, in the whole map
  uint32_t writes_ = 0;
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

Program random_planned(uint64_t seed) {
  Program program = RandomProgram(seed).make();
  Random random(seed);
  if (random.chance(0.6)) chain_some(program, random);
  plan_memory(program);
  return program;
}

TEST(Plan, NothingOverwritesWhatIsStillNeeded) {
  for (uint64_t seed = 0; seed < 1000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Program program = random_planned(seed);
    expect_well_placed(program);
    Player player(program, seed);
    Random random(seed);
    for (int run = 0; run < 4; ++run) player.run(random.pick(program.entries));
  }
}

TEST(Plan, IsTheSameEveryTime) {
  const Program a = random_planned(7), b = random_planned(7);
  for (size_t i = 0; i < a.buffers.size(); ++i) EXPECT_EQ(a.buffers[i].offset, b.buffers[i].offset);
}

TEST(Plan, StaysCloseToTheLowerBound) {
  double worst = 0, sum = 0;
  constexpr int kPrograms = 200;
  for (uint64_t seed = 1000; seed < 1000 + kPrograms; ++seed) {
    const PlanSummary summary = describe_plan(random_planned(seed));
    EXPECT_GE(summary.arena_bytes, summary.lower_bound);
    const double excess = static_cast<double>(summary.arena_bytes) / summary.lower_bound - 1;
    worst = std::max(worst, excess);
    sum += excess;
  }
  EXPECT_LT(worst, 0.60);
  EXPECT_LT(sum / kPrograms, 0.03);
}

// Residual blocks: 200 maps, with a second and a third to be placed beside most of them.
TEST(Plan, Places200TensorsInASecond) {
  Program program;
  Random random(5);
  std::vector<Map> maps = {add_map(program, 40, 3)};
  while (maps.size() < 200) {
    const Map& last = maps.back();
    const Map inner = add_map(program, 40, static_cast<uint32_t>(random.integer(2, 24)));
    add_row_step(program, {last}, inner, {3, 1, 1}, true);
    const Map out = add_map(program, 40, last.row_bytes / kWidth);
    add_row_step(program, {inner}, out, {3, 1, 1}, true);
    const Map sum = add_map(program, 40, random.chance(0.3) ? 8 : last.row_bytes / kWidth);
    add_row_step(program, {last, out}, sum, {}, true);
    maps.insert(maps.end(), {inner, out, sum});
  }
  program.entries.push_back(whole_program(program, {maps.front().buffer}, {maps.back().buffer}));
  const auto start = std::chrono::steady_clock::now();
  plan_memory(program);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  Player(program, 0).run(program.entries[0]);
  const PlanSummary summary = describe_plan(program);
  EXPECT_LE(summary.arena_bytes, summary.lower_bound * 1.02);
}

/// A step from one map to another of 4-byte pixels, 4 to a row, and what both need.
uint32_t arena_of_window(int rows, uint32_t in_pixel, uint32_t out_pixel, const Window& window, bool in_order) {
  Program program;
  const Map in = add_map(program, rows, in_pixel), out = add_map(program, window.rows_out(rows), out_pixel);
  add_row_step(program, {in}, out, window, in_order);
  program.entries.push_back(whole_program(program, {in.buffer}, {out.buffer}));
  plan_memory(program);
  return program.regions[0].bytes;
}

TEST(Plan, AnOutputFollowsItsDyingInput) {
  // Rows of 16 bytes. The output stays one row before the first row that is still read.
  EXPECT_EQ(arena_of_window(10, 4, 4, {3, 1, 1}, true), 160u + 2 * 16);
  EXPECT_EQ(arena_of_window(10, 4, 4, {1, 1, 0}, true), 160u + 16);
  EXPECT_EQ(arena_of_window(10, 4, 4, {3, 1, 1}, false), 320u) << "a kernel of any order";
  EXPECT_EQ(arena_of_window(10, 4, 4, {2, 2, 0}, true), 160u + 16) << "half as many rows";
  EXPECT_EQ(arena_of_window(10, 2, 4, {2, 2, 0}, true), 80u + 16) << "rows of twice the size";
  EXPECT_EQ(arena_of_window(10, 2, 4, {1, 1, 0}, true), 160u + 16) << "twice the size: it grows into the input's end";
}

TEST(Schedules, EachRunsAndNeedsWhatItSays) {
  size_t chains = 0;
  for (uint64_t seed = 0; seed < 150 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Program lowered = seed % 3 == 0 ? RandomProgram(seed).make() : RandomProgram(seed).make_of_maps();
    const std::vector<Schedule> schedules = find_schedules(lowered);
    ASSERT_FALSE(schedules.empty());
    EXPECT_TRUE(schedules.front().chains.empty());
    for (size_t i = 0; i < schedules.size(); ++i) {
      if (i > 0) {
        EXPECT_LT(schedules[i].live_bytes, schedules[i - 1].live_bytes);
        EXPECT_GT(schedules[i].added_cycles, schedules[i - 1].added_cycles);
      }
      Program program = lowered;
      apply_schedule(program, schedules[i]);
      plan_memory(program);
      chains += schedules[i].chains.size();
      EXPECT_LE(most_live_bytes(program), schedules[i].live_bytes);
      Player player(program, seed);
      for (const Entry& entry : program.entries) player.run(entry);
    }
  }
  EXPECT_GT(chains, 50u);
}

// Two steps of a chain with 64 bytes of scratch each: filled for each band, it may lie in one place.
TEST(Schedules, ScratchThatIsKeptLiesApart) {
  const auto arena = [](bool keeps_scratch) {
    Program program;
    const Map in = add_map(program, 8, 4), inner = add_map(program, 8, 4), out = add_map(program, 8, 4);
    for (const auto& [from, to] : {std::pair{in, inner}, std::pair{inner, out}}) {
      ProgramStep& step = add_row_step(program, {from}, to, {1, 1, 0}, true);
      step.family = &kFillsFamily;
      step.operands[kScratch] = {add_buffer(program, 64)};
      step.params.at(offsetof(TestParams, bytes) + kScratch * sizeof(uint32_t)) = 64;
      step.keeps_field = offsetof(TestParams, keeps_scratch);
    }
    program.entries.push_back(whole_program(program, {in.buffer}, {out.buffer}));
    make_chain(program, 0, 2, {}, keeps_scratch);
    for (const ProgramStep& step : program.steps)
      EXPECT_EQ(step.params.at(offsetof(TestParams, keeps_scratch)), keeps_scratch ? 1 : 0);
    plan_memory(program);
    Player(program, 0).run(program.entries[0]);
    return program.regions[0].bytes;
  };
  EXPECT_EQ(arena(true), arena(false) + 64);
}

// A mean makes one row, but in a chain it takes the rows of its input one by one: they may be many at a time.
TEST(Schedules, AMeanDoesNotKeepBandsLow) {
  Program program;
  const Map in = add_map(program, 24, 4), first = add_map(program, 24, 64), second = add_map(program, 24, 64);
  const Map out = add_map(program, 1, 4);
  add_row_step(program, {in}, first, {3, 1, 1}, true);
  add_row_step(program, {first}, second, {3, 1, 1}, true);
  ProgramStep& mean = add_row_step(program, {second}, out, {24, 24, 0}, true);
  ProgramStep by_rows = mean;
  by_rows.rows = 24;
  by_rows.row_dependencies = {Window{1, 1, 0}.dependency(0)};
  by_rows.rows_field[kOutput] = -1;
  mean.row_by_row = std::make_shared<ProgramStep>(by_rows);
  program.entries.push_back(whole_program(program, {in.buffer}, {out.buffer}));

  const std::vector<Schedule> schedules = find_schedules(program);
  EXPECT_TRUE(std::ranges::any_of(schedules, [](const Schedule& schedule) {
    return std::ranges::any_of(schedule.chains, [](const PlannedChain& chain) {
      return chain.step_count == 3 && std::ranges::min(chain.band_rows) > 1;
    });
  }));
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
    ProgramStep& step = add_step(program, {in, in, out, {}}, {{kFirst, kOutput}, {kSecond, kOutput}});
    for (OperandRef& operand : step.operands) operand.offset = image * 100;
    step.params = params_bytes(TestParams{.rows = {}, .bytes = {100, 100, 100, 0}, .step_rows = 1});
  }
  program.entries.push_back(whole_program(program, {in}, {out}));
  plan_memory(program);
  EXPECT_EQ(program.regions[0].bytes, 208u);

  program.steps[0].operands[kOutput].offset = 100;  // in another order it would overwrite the second image
  program.steps[1].operands[kOutput].offset = 0;
  plan_memory(program);
  EXPECT_EQ(program.regions[0].bytes, 304u);
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

/// Blocks that must not overlap while both live.
struct LifeBlock {
  uint32_t bytes;
  int first;
  int last;
};

std::vector<Conflict> conflicts_of(const std::vector<LifeBlock>& blocks) {
  std::vector<Conflict> conflicts;
  for (size_t a = 0; a < blocks.size(); ++a) {
    for (size_t b = a + 1; b < blocks.size(); ++b) {
      if (blocks[a].first <= blocks[b].last && blocks[b].first <= blocks[a].last)
        conflicts.push_back({a, b, blocks[a].bytes, blocks[b].bytes});
    }
  }
  return conflicts;
}

/// The least that any order of first fits needs: every optimum is the first fit of some order.
uint64_t best_of_all_orders(const std::vector<LifeBlock>& blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const std::vector<Conflict> conflicts = conflicts_of(blocks);
  uint64_t best = UINT64_MAX;
  do {
    std::vector<int64_t> offsets(blocks.size(), -1);
    uint64_t end = 0;
    for (const size_t block : order) {
      int64_t at = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (const Conflict& c : conflicts) {
          if (c.a != block && c.b != block) continue;
          const size_t other = c.a == block ? c.b : c.a;
          if (offsets[other] < 0 || at >= offsets[other] + blocks[other].bytes ||
              offsets[other] >= at + blocks[block].bytes)
            continue;
          at = offsets[other] + blocks[other].bytes;
          moved = true;
        }
      }
      offsets[block] = at;
      end = std::max(end, static_cast<uint64_t>(at) + blocks[block].bytes);
    }
    best = std::min(best, end);
  } while (std::ranges::next_permutation(order).found);
  return best;
}

// For these neither order of size nor of time is best.
TEST(Placement, FindsTheBestOfASmallCase) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    std::vector<LifeBlock> lives;
    std::vector<Block> blocks;
    for (int i = 0; i < 6; ++i) {
      const int first = static_cast<int>(random.integer(0, 6));
      lives.push_back(
          {static_cast<uint32_t>(random.integer(1, 20)), first, first + static_cast<int>(random.integer(0, 4))});
      blocks.push_back({lives.back().bytes, 1});
    }
    EXPECT_EQ(place_blocks(blocks, conflicts_of(lives), 0).bytes, best_of_all_orders(lives)) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rush
