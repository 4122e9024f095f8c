// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/stream.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "compiler/plan/cost.h"
#include "compiler/plan/lifetime.h"
#include "ops/op_def.h"

namespace rush {
namespace {

/// Bands of a chain: of so many rows in each step; or in the one with fewest rows, and in others as many more as they
/// have more rows.
struct BandHeights {
  int rows;
  bool in_proportion;
};
constexpr BandHeights kHeights[] = {{1, false}, {1, true}, {2, false}, {2, true}, {3, false}, {4, false}, {6, false}};

/// Runs longer than this are not tried: a chain's context and its choice of steps grow with it.
constexpr int kLongestChain = 40;

/// From where to where a buffer is needed, in steps: an entry's input from before its first, its output to behind its
/// last; a buffer that several entries use from the first use to the last.
struct Use {
  int entry = -1;
  int first = std::numeric_limits<int>::max();
  int last = -1;
};

/// A run of steps in one way, as a chain or, alone, as a whole.
struct Option {
  int first;
  int count;
  std::vector<int> band_rows;
  bool keeps_scratch;
  uint64_t live_bytes;
  uint64_t added_cycles;
};

class ScheduleFinder {
 public:
  explicit ScheduleFinder(const Program& program) : program_(program) {
    for (Buffer& buffer : program_.buffers) buffer.data.clear();
    step_count_ = static_cast<int>(program_.steps.size());
    find_uses();
  }

  std::vector<Schedule> find() {
    try_all_runs();
    std::vector<uint64_t> limits;
    for (const Option& option : options_) limits.push_back(option.live_bytes);
    std::ranges::sort(limits, std::greater<>());
    limits.erase(std::unique(limits.begin(), limits.end()), limits.end());
    std::vector<Schedule> found;
    for (const uint64_t limit : limits) {
      if (!found.empty() && limit >= found.back().live_bytes) continue;
      auto schedule = fastest_within(limit);
      if (!schedule) break;
      if (!found.empty() && found.back().added_cycles >= schedule->added_cycles) found.pop_back();
      found.push_back(std::move(*schedule));
    }
    return found;
  }

  Schedule raise_bands(const Schedule& schedule, uint64_t most_live) const {
    Schedule made = schedule;
    made.added_cycles = 0;
    made.live_bytes = 0;
    for (PlannedChain& chain : made.chains) {
      const auto as_it_is =
          try_bands(slice(chain.first_step, chain.step_count), chain.first_step, chain.band_rows, chain.keeps_scratch);
      const Option higher = raised(as_it_is.value(), most_live);
      chain.band_rows = higher.band_rows;
      made.added_cycles += higher.added_cycles;
    }
    Program chained = program_;
    apply_schedule(chained, made);
    made.live_bytes = most_live_bytes(chained);
    return made;
  }

 private:
  BufferId root(BufferId id) const {
    while (const auto parent = program_[id].view_of) id = *parent;
    return id;
  }

  /// By steps [first, last] of an entry. What several entries use is always there.
  void use(BufferId id, int entry, int first, int last) {
    if (!id.valid()) return;
    Use& use = uses_[static_cast<size_t>(root(id).index)];
    const bool is_shared = use.entry >= 0 && use.entry != entry;
    use = {entry, is_shared ? -1 : std::min(use.first, first), is_shared ? step_count_ : std::max(use.last, last)};
  }

  void find_uses() {
    uses_.resize(program_.buffers.size());
    entry_of_.resize(static_cast<size_t>(step_count_), -1);
    for (size_t e = 0; e < program_.entries.size(); ++e) find_uses_of(program_.entries[e], static_cast<int>(e));
  }

  /// An input is there from before the first step, if only for a moment.
  void find_uses_of(const Entry& entry, int index) {
    if (entry.chain_count == 0) return;
    const int first = program_.chains[static_cast<size_t>(entry.first_chain)].first_step;
    const int end = first + entry.chain_count;
    for (int s = first; s < end; ++s) {
      entry_of_[static_cast<size_t>(s)] = index;
      for (const OperandRef& operand : program_.steps[static_cast<size_t>(s)].operands)
        use(operand.buffer, index, s, s);
    }
    for (const ProgramPort& port : entry.inputs) {
      if (!port.line_fed) use(port.buffer, index, first - 1, port.kept ? end : first);
    }
    for (const ProgramPort& port : entry.outputs) use(port.buffer, index, end, end);
  }

  /// The steps [first, first + count) as a program of their own: what it is given lives from its start, what is needed
  /// behind it to its end.
  Program slice(int first, int count) const {
    Program part{.isa = program_.isa, .core = program_.core, .buffers = program_.buffers};
    Entry entry{.name = "part", .chain_count = count};
    for (int s = 0; s < count; ++s) {
      part.steps.push_back(program_.steps[static_cast<size_t>(first + s)]);
      part.chains.push_back({.first_step = s, .step_count = 1, .links = {}});
    }
    for (size_t i = 0; i < uses_.size(); ++i) {
      if (program_.buffers[i].kind != BufferKind::kArena || uses_[i].last < first) continue;
      ProgramPort port;
      port.buffer = {static_cast<int32_t>(i)};
      port.kept = uses_[i].last >= first + count;
      if (uses_[i].first < first) {
        entry.inputs.push_back(port);
      } else if (uses_[i].first < first + count && port.kept) {
        entry.outputs.push_back(port);
      }
    }
    part.entries.push_back(std::move(entry));
    return part;
  }

  void try_all_runs() {
    for (int first = 0; first < step_count_; ++first) {
      options_.push_back({first, 1, {1}, false, most_live_bytes(slice(first, 1)), 0});
      whole_live_ = std::max(whole_live_, options_.back().live_bytes);
    }
    for (int first = 0; first < step_count_; ++first) {
      for (int count = 2; count <= std::min(kLongestChain, step_count_ - first); ++count) {
        const auto last = static_cast<size_t>(first + count - 1);
        if (entry_of_[last] != entry_of_[static_cast<size_t>(first)] || !try_run(first, count)) break;
      }
    }
  }

  /// False if these steps, and so any more behind them, cannot be a chain.
  bool try_run(int first, int count) {
    const Program part = slice(first, count);
    const bool may_keep = std::ranges::any_of(part.steps, [](const ProgramStep& s) { return s.keeps_field >= 0; });
    for (const bool keeps_scratch : {false, true}) {
      if (keeps_scratch && !may_keep) break;
      for (const BandHeights& bands : kHeights) {
        const auto option = try_bands(part, first, rows_of_bands(part, bands), keeps_scratch);
        if (!option) return false;
        if (option->live_bytes < whole_live_) options_.push_back(*option);
      }
    }
    return true;
  }

  static std::vector<int> rows_of_bands(const Program& part, const BandHeights& bands) {
    std::vector<int> rows;
    for (const ProgramStep& step : part.steps) rows.push_back(step.row_by_row ? step.row_by_row->rows : step.rows);
    const int fewest = std::ranges::min(rows);
    for (int& height : rows) height = bands.in_proportion ? bands.rows * height / fewest : bands.rows;
    return rows;
  }

  /// Nothing if the steps cannot be a chain.
  std::optional<Option> try_bands(const Program& part, int first, const std::vector<int>& band_rows,
                                  bool keeps_scratch) const {
    Program chained = part;
    const auto count = static_cast<int>(part.steps.size());
    try {
      make_chain(chained, 0, count, band_rows, keeps_scratch);
    } catch (const UserError&) {
      return std::nullopt;
    }
    return Option{first, count, band_rows, keeps_scratch, most_live_bytes(chained), cycles_added(part, chained)};
  }

  uint64_t cycles_added(const Program& part, const Program& chained) const {
    uint64_t before = program_cycles(part), cycles = 0;
    for (size_t s = 0; s < chained.steps.size(); ++s)
      cycles += step_cycles(program_, chained.steps[s], chained.chains.front().links[s].band_rows);
    return cycles > before ? cycles - before : 0;
  }

  /// Raises the band that saves most time, again and again.
  Option raised(Option option, uint64_t most_live) const {
    const Program part = slice(option.first, option.count);
    for (bool better = true; better;) {
      better = false;
      const Option now = option;
      for (size_t place = 0; place <= now.band_rows.size(); ++place) {
        for (const int factor : {1, 2}) {
          const auto higher = try_bands(part, now.first, raised(part, now.band_rows, place, factor), now.keeps_scratch);
          if (!higher || higher->live_bytes > most_live || higher->added_cycles >= option.added_cycles) continue;
          option = *higher;
          better = true;
        }
      }
    }
    return option;
  }

  /// The rows of one step's bands, or of all where `place` is behind the last, plus one or twice as many.
  static std::vector<int> raised(const Program& part, std::vector<int> rows, size_t place, int factor) {
    for (size_t s = 0; s < rows.size(); ++s) {
      if (s != place && place < rows.size()) continue;
      rows[s] = std::min<int>(factor == 1 ? rows[s] + 1 : rows[s] * 2, part.steps[s].rows);
    }
    return rows;
  }

  /// The fastest cut into runs that need no more than `limit`.
  std::optional<Schedule> fastest_within(uint64_t limit) const {
    constexpr uint64_t kImpossible = std::numeric_limits<uint64_t>::max();
    std::vector<uint64_t> cycles(static_cast<size_t>(step_count_) + 1, kImpossible);
    std::vector<const Option*> last(static_cast<size_t>(step_count_) + 1, nullptr);
    cycles[0] = 0;
    for (const Option* option : by_end()) {
      const auto from = static_cast<size_t>(option->first), to = from + static_cast<size_t>(option->count);
      if (option->live_bytes > limit || cycles[from] == kImpossible) continue;
      if (cycles[from] + option->added_cycles >= cycles[to]) continue;
      cycles[to] = cycles[from] + option->added_cycles;
      last[to] = option;
    }
    if (cycles.back() == kImpossible) return std::nullopt;
    Schedule schedule{.added_cycles = cycles.back()};
    for (int at = step_count_; at > 0; at = last[static_cast<size_t>(at)]->first) {
      const Option& option = *last[static_cast<size_t>(at)];
      schedule.live_bytes = std::max(schedule.live_bytes, option.live_bytes);
      if (option.count > 1)
        schedule.chains.push_back({option.first, option.count, option.band_rows, option.keeps_scratch});
    }
    return schedule;
  }

  /// So that what leads to a step is known before what follows it.
  const std::vector<const Option*>& by_end() const {
    if (by_end_.size() != options_.size()) {
      for (const Option& option : options_) by_end_.push_back(&option);
      std::ranges::stable_sort(by_end_, {}, [](const Option* o) { return o->first + o->count; });
    }
    return by_end_;
  }

  Program program_;  ///< without the bytes of its constants
  int step_count_ = 0;
  std::vector<Use> uses_;      ///< of each buffer that is no view
  std::vector<int> entry_of_;  ///< of each step
  std::vector<Option> options_;
  mutable std::vector<const Option*> by_end_;
  uint64_t whole_live_ = 0;
};

}  // namespace

std::vector<Schedule> find_schedules(const Program& program) {
  if (program.steps.empty() || std::ranges::any_of(program.chains, [](const Chain& c) { return c.step_count > 1; }))
    return {Schedule{.chains = {}, .live_bytes = most_live_bytes(program), .added_cycles = 0}};
  return ScheduleFinder(program).find();
}

Schedule raise_bands(const Program& program, const Schedule& schedule, uint64_t most_live) {
  return schedule.chains.empty() ? schedule : ScheduleFinder(program).raise_bands(schedule, most_live);
}

void apply_schedule(Program& program, const Schedule& schedule) {
  for (const PlannedChain& chain : schedule.chains)
    make_chain(program, chain.first_step, chain.step_count, chain.band_rows, chain.keeps_scratch);
}

}  // namespace rush
