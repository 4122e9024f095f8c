// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/schedule.h"

#include <algorithm>

#include "ops/op_def.h"

namespace rush {
namespace {

/// Turns for one band at most: more would only take time.
constexpr int kMostTurns = 256;

class ChainPlayer {
 public:
  ChainPlayer(const Program& program, const Chain& chain)
      : program_(program), chain_(chain), done_(static_cast<size_t>(chain.step_count), 0) {}

  bool play(const std::function<void(int, int, int)>& band) {
    while (true) {
      int place = chain_.step_count - 1;
      while (place >= 0 && !ready(place)) --place;
      if (place < 0) break;
      const int end = next_row(place);
      band(chain_.first_step + place, done(place), end);
      done(place) = end;
    }
    for (int place = 0; place < chain_.step_count; ++place) {
      if (done(place) < rows(place)) return false;
    }
    return true;
  }

 private:
  int& done(int place) { return done_[static_cast<size_t>(place)]; }
  int rows(int place) const { return program_.steps[static_cast<size_t>(chain_.first_step + place)].rows; }
  const ChainLink& link(int place) const { return chain_.links.at(static_cast<size_t>(place)); }
  int next_row(int place) {
    const int band = done(place) == 0 ? link(place).first_rows : link(place).band_rows;
    return std::min(rows(place), done(place) + band);
  }

  /// Whether all producers of a step have done what its next band needs.
  bool ready(int place) {
    if (done(place) >= rows(place)) return false;
    return std::ranges::all_of(link(place).producers, [&](const auto& producer) {
      const auto& [step, dependency] = producer;
      const int wanted = next_row(place) * dependency.stride + dependency.lead;
      return done(step - chain_.first_step) >= std::min(rows(step - chain_.first_step), wanted);
    });
  }

  const Program& program_;
  const Chain& chain_;
  std::vector<int> done_;
};

class TurnLister {
 public:
  explicit TurnLister(const Program& program) : program_(program) {}

  std::vector<Turn> list() {
    for (size_t e = 0; e < program_.entries.size(); ++e) {
      entry_ = static_cast<int>(e);
      turns_.push_back({.entry = entry_, .step = Turn::kStart});
      for (int c = 0; c < program_.entries[e].chain_count; ++c)
        add_chain(program_.chains.at(static_cast<size_t>(program_.entries[e].first_chain + c)));
      turns_.push_back({.entry = entry_, .step = Turn::kEnd});
    }
    return std::move(turns_);
  }

 private:
  void add_chain(const Chain& chain) {
    const auto add = [&](int step, int begin, int end) { add_band(step, begin, end); };
    if (chain.step_count == 1) return add(chain.first_step, 0, program_.steps.at(size_t(chain.first_step)).rows);
    internal_check(play_chain(program_, chain, add), "plan: a step of a chain is never ready");
  }

  void add_band(int step, int begin, int end) {
    const int at_once = rows_at_once(program_.steps.at(static_cast<size_t>(step)));
    const int least = (end - begin + kMostTurns - 1) / kMostTurns;
    const int rows = at_once > 0 ? (least + at_once - 1) / at_once * at_once : end - begin;
    for (int y = begin; y < end; y += rows)
      turns_.push_back({.entry = entry_, .step = step, .begin = y, .end = std::min(end, y + rows)});
  }

  const Program& program_;
  int entry_ = 0;
  std::vector<Turn> turns_;
};

}  // namespace

int rows_at_once(const ProgramStep& step) {
  const HostKernel& kernel = *step.family->host;
  return step.positions && kernel.positions_at_once == 0 ? 0 : kernel.rows_at_once;
}

std::vector<Turn> turns_of(const Program& program) { return TurnLister(program).list(); }

bool play_chain(const Program& program, const Chain& chain, const std::function<void(int, int, int)>& band) {
  return ChainPlayer(program, chain).play(band);
}

}  // namespace rush
