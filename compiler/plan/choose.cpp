// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "compiler/emit/emit.h"
#include "compiler/plan/cost.h"
#include "compiler/plan/lifetime.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/stream.h"
#include "ops/op_def.h"
#include "rushlight/rushlight.h"

namespace rush {
namespace {

/// RUSH_CONTEXT_BYTES where a pointer has four bytes.
uint64_t context_bytes(const Program& program) {
  constexpr size_t kBehindPointers = offsetof(rush_context, chain);
  constexpr size_t kEnd = offsetof(rush_context, rows_done) + sizeof(rush_context::rows_done);
  constexpr size_t kBytes = kBehindPointers / sizeof(void*) * 4 + kEnd - kBehindPointers;
  int steps = 1;
  for (const Chain& chain : program.chains) steps = std::max(steps, chain.step_count);
  return kBytes + RUSH_CONTEXT_BYTES(static_cast<size_t>(steps)) - sizeof(rush_context);
}

Program planned(const Program& program, const Schedule& schedule) {
  Program made = program;
  apply_schedule(made, schedule);
  plan_memory(made);
  return made;
}

TradePoint trade_point(const Program& lowered, const Schedule& schedule) {
  TradePoint point{total_ram(planned(lowered, schedule)), program_cycles(lowered) + schedule.added_cycles, 0};
  for (const PlannedChain& chain : schedule.chains) point.streamed_steps += chain.step_count;
  return point;
}

std::string layer_of(const Program& program, int step) {
  if (step < 0 || step >= std::ssize(program.steps)) return "the program's border";
  const ProgramStep& at = program.steps[static_cast<size_t>(step)];
  return at.origin.layer.empty() ? at.name : at.origin.layer;
}

/// What lies in RAM where it is fullest, largest first.
std::vector<std::string> reasons(const Program& made) {
  Peak peak = find_peak(made);
  std::ranges::stable_sort(peak.tenants, std::greater<>(), &PeakTenant::bytes);
  std::vector<std::string> lines = {fmt::format("most is in use in layer \"{}\":", layer_of(made, peak.step))};
  for (const PeakTenant& tenant : peak.tenants) {
    if (lines.size() == 6) break;
    lines.push_back(fmt::format("{:>9} bytes of \"{}\"", tenant.bytes, made[tenant.buffer].name));
  }
  return lines;
}

class Chooser {
 public:
  Chooser(Program& program, const ScheduleWish& wish)
      : program_(program), wish_(wish), schedules_(find_schedules(program)) {}

  void choose() {
    std::vector<TradePoint> curve;
    if (wish_.with_curve) {
      for (const Schedule& schedule : schedules_)
        curve.push_back(trade_point(program_, raise_bands(program_, schedule, schedule.live_bytes)));
      keep_better(curve);
    }
    program_ = wish_.most_ram ? fastest_that_fits() : smallest_in_time();
    program_.trade_curve = std::move(curve);
  }

 private:
  /// Placing does not follow what is in use exactly: a point that is no gain goes.
  static void keep_better(std::vector<TradePoint>& curve) {
    std::vector<TradePoint> kept;
    for (const TradePoint& point : curve) {
      while (!kept.empty() && kept.back().ram_bytes >= point.ram_bytes && kept.back().cycles >= point.cycles)
        kept.pop_back();
      if (kept.empty() || point.ram_bytes < kept.back().ram_bytes) kept.push_back(point);
    }
    curve = std::move(kept);
  }

  Program fastest_that_fits() const {
    std::optional<Program> smallest, best;
    uint64_t best_added = 0;
    for (const Schedule& schedule : schedules_) {
      if (schedule.live_bytes > *wish_.most_ram && &schedule != &schedules_.back()) continue;
      Program made = planned(program_, schedule);
      if (!smallest || total_ram(made) < total_ram(*smallest)) smallest = made;
      if (total_ram(made) > *wish_.most_ram) continue;
      const Schedule higher = with_higher_bands(schedule, *wish_.most_ram - total_ram(made));
      if (best && higher.added_cycles >= best_added) continue;
      best = planned(program_, higher);
      best_added = higher.added_cycles;
    }
    if (best) return std::move(*best);
    const uint64_t least = total_ram(*smallest);
    throw UserError(
        {.what = fmt::format("the model does not fit {} bytes of RAM: no schedule needs less than {}, {} more",
                             *wish_.most_ram, least, least - *wish_.most_ram),
         .op = {},
         .origin = {},
         .details = reasons(*smallest),
         .fix = fmt::format("give it --ram {}, or make these layers' maps smaller", least)});
  }

  /// What is left of the RAM goes into higher bands; less of it where placing needs some.
  Schedule with_higher_bands(const Schedule& schedule, uint64_t left) const {
    for (;; left /= 2) {
      Schedule higher = raise_bands(program_, schedule, schedule.live_bytes + left);
      if (total_ram(planned(program_, higher)) <= *wish_.most_ram) return higher;
      if (left == 0) return schedule;
    }
  }

  /// Less RAM is found first: the chains of each schedule with as little more for their bands as makes them fast
  /// enough.
  Program smallest_in_time() const {
    constexpr int kFinalists = 3;  // placing does not follow what is in use exactly
    std::optional<Program> best;
    int tried = 0;
    for (size_t i = schedules_.size(); i-- > 0 && tried < kFinalists;) {
      const auto schedule = fast_enough(i);
      if (!schedule) continue;
      Program made = planned(program_, *schedule);
      if (!best || total_ram(made) < total_ram(*best)) best = std::move(made);
      ++tried;
    }
    internal_check(best.has_value(), "plan: no schedule");
    return std::move(*best);
  }

  /// Between what schedule i needs and what the next faster one does.
  std::optional<Schedule> fast_enough(size_t i) const {
    constexpr uint64_t kParts = 8;
    const double most = wish_.most_added * static_cast<double>(program_cycles(program_));
    const uint64_t least = schedules_[i].live_bytes, next = i == 0 ? least : schedules_[i - 1].live_bytes;
    const auto raised = [&](uint64_t part) {
      return raise_bands(program_, schedules_[i], least + (next - least) * part / kParts);
    };
    const auto is_fast = [&](const Schedule& s) { return static_cast<double>(s.added_cycles) <= most; };
    if (!is_fast(raised(kParts - 1))) return std::nullopt;
    uint64_t part = 0;
    while (!is_fast(raised(part))) ++part;
    return raised(part);
  }

  Program& program_;
  const ScheduleWish& wish_;
  const std::vector<Schedule> schedules_;
};

/// Places a planned program's buffers, or says why its chip's memories are too small for them.
std::optional<MemoriesTooSmall> too_small_for(Program& program, const std::vector<PlaceRequest>& requests) {
  try {
    place_in_memories(program, requests);
  } catch (const MemoriesTooSmall& error) {
    return error;
  }
  return std::nullopt;
}

/// The rows in which the first reader of an input sees it.
std::optional<Rows> rows_of_reader(const Program& program, BufferId input) {
  for (const ProgramStep& step : program.steps) {
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (step.operands[i].buffer != input || i >= step.rows_field.size() || step.rows_field[i] < 0) continue;
      Rows rows{};
      std::memcpy(&rows, step.params.data() + step.rows_field[i], sizeof rows);
      return rows;
    }
  }
  return std::nullopt;
}

}  // namespace

uint64_t total_ram(const Program& program) {
  uint64_t ram = stack_bound(program) + context_bytes(program);
  for (const RegionUse& region : program.regions) ram += region.bytes;
  return ram;
}

void make_line_fed(Program& program, size_t i) {
  ProgramPort& port = program.entries.at(0).inputs.at(i);
  const auto rows = rows_of_reader(program, port.buffer);
  if (!rows || rows->ring_rows < 2 || program[port.buffer].kind != BufferKind::kArena)
    throw UserError(fmt::format("the input \"{}\" cannot be given row by row: no layer reads it so", port.name),
                    "leave out --line-input");
  port.line_fed = true;
  ProgramStep feed;
  feed.family = find_kernel_family("feed");
  feed.params = params_bytes(FeedParams{*rows, rows->ring_rows});
  feed.operands = {{port.buffer}};
  feed.rows = rows->ring_rows;
  feed.rows_field = {offsetof(FeedParams, map)};
  feed.name = port.name;
  feed.origin.layer = port.name;
  program.steps.insert(program.steps.begin(), std::move(feed));
  for (Chain& chain : program.chains) ++chain.first_step;
  program.chains.insert(program.chains.begin(), {.first_step = 0, .step_count = 1, .links = {}});
  for (size_t e = 1; e < program.entries.size(); ++e) ++program.entries[e].first_chain;
  ++program.entries[0].chain_count;
}

void plan_program(Program& program, const ScheduleWish& wish) {
  // The fastest needs no search.
  if (!wish.most_ram && !wish.with_curve && wish.most_added == 0) return plan_memory(program);
  Chooser(program, wish).choose();
}

void plan_in_memories(Program& program, const ScheduleWish& wish, const std::vector<PlaceRequest>& requests) {
  Program wished = program;
  plan_program(wished, wish);
  Program made = wished;
  std::optional<MemoriesTooSmall> why = too_small_for(made, requests);
  if (why) {
    for (const Schedule& schedule : find_schedules(program)) {
      made = planned(program, schedule);
      if (total_ram(made) >= total_ram(wished)) continue;
      why = too_small_for(made, requests);
      if (!why) break;
    }
  }
  if (why) throw MemoriesTooSmall(*why);
  made.trade_curve = std::move(wished.trade_curve);
  program = std::move(made);
}

}  // namespace rush
