// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "compiler/plan/cost.h"
#include "compiler/plan/memories.h"
#include "compiler/report/explain.h"
#include "compiler/report/report.h"
#include "compiler/report/summary.h"

namespace rush {
namespace {

constexpr size_t kColumns = 6, kWidestLayer = 40;
using Cells = std::array<std::string, kColumns>;

/// The end of a long name tells more than its beginning.
std::string shortened(const std::string& name) {
  return name.size() <= kWidestLayer ? name : "..." + name.substr(name.size() - kWidestLayer + 3);
}

/// 1234567 -> "1,234,567".
std::string grouped(uint64_t value) {
  std::string digits = std::to_string(value);
  for (auto at = static_cast<ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string count_or_dash(uint64_t value) { return value == 0 ? "-" : grouped(value); }

/// An estimate with two digits: more would promise too much.
std::string rounded(double value) {
  double unit = 1;
  while (value / unit >= 100) unit *= 10;
  return grouped(static_cast<uint64_t>(std::round(value / unit) * unit));
}

std::string output_of(const LayerRow& row) {
  if (row.outputs.empty()) return "-";
  return row.ring_rows == 0 ? row.outputs.back() : fmt::format("{}, ring of {}", row.outputs.back(), row.ring_rows);
}

Cells cells_of(const LayerRow& row) {
  const std::string times = row.step_count == 1 ? "" : fmt::format(" x{}", row.step_count);
  return {shortened(row.layer),    row.kernel + times,  output_of(row),
          count_or_dash(row.macs), rounded(row.cycles), count_or_dash(row.constant_bytes)};
}

std::string table(const std::vector<LayerRow>& layers) {
  std::vector<Cells> lines = {{"layer", "kernel", "output", "MACs", "cycles ~", "weight bytes"}};
  for (const LayerRow& row : layers) lines.push_back(cells_of(row));
  std::array<size_t, kColumns> widths{};
  for (const Cells& cells : lines) {
    for (size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], cells[i].size());
  }
  std::string text;
  for (const Cells& c : lines) {
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {:>{}}  {:>{}}  {:>{}}\n", c[0], widths[0], c[1], widths[1], c[2],
                        widths[2], c[3], widths[3], c[4], widths[4], c[5], widths[5]);
  }
  return text;
}

/// Nothing runs in float without being told.
std::string float_layers(const std::vector<LayerRow>& layers) {
  std::string names;
  uint64_t macs = 0;
  for (const LayerRow& row : layers) {
    if (row.becomes != "float kernel") continue;
    names += (names.empty() ? "" : ", ") + shortened(row.layer);
    macs += row.macs;
  }
  return names.empty() ? "" : fmt::format("In float ({} MACs): {}\n", grouped(macs), names);
}

std::string warnings_line(const Program& program, std::span<const uint8_t> image) {
  const int warnings = explain(program, image).warnings();
  return warnings == 0 ? "" : fmt::format("Warnings {:>9}, `rushlight explain` says which\n", warnings);
}

std::string ram_line(const ProgramSummary& s) {
  const uint32_t all = s.plan.arena_bytes + s.plan.state_bytes + s.plan.weights_bytes + s.stack_bytes;
  std::string text = fmt::format("RAM    {:>11} bytes: arena {} (no plan needs less than {})", grouped(all),
                                 grouped(s.plan.arena_bytes), grouped(s.plan.lower_bound));
  if (s.plan.weights_bytes > 0) text += fmt::format(", copied weights {}", grouped(s.plan.weights_bytes));
  if (s.plan.state_bytes > 0) text += fmt::format(", state {}", grouped(s.plan.state_bytes));
  return text + fmt::format(", stack {}\n", grouped(s.stack_bytes));
}

std::string time_line(const Program& program, const ProgramSummary& s) {
  const std::string cycles = fmt::format("Time   {:>11} cycles by estimate", rounded(s.cycles));
  if (program.mhz == 0) return cycles + "\n";
  return cycles + fmt::format(", {:.2g} ms at {} MHz; `rushlight run --on` counts them\n",
                              s.cycles / program.mhz / 1000, program.mhz);
}

/// Who lies where on a chip, and what that saves; the rest of the list is in report.json.
std::string memory_table(const Program& program) {
  if (program.memories.empty()) return "";
  constexpr size_t kMost = 12;
  const std::vector<MemoryRow> rows = describe_memories(program);
  std::string text =
      fmt::format("\n\nWaiting for memories takes {} cycles more by estimate.\n", rounded(memory_cycles(program)));
  for (const ChipMemory& memory : program.memories) {
    std::string use;
    for (const RegionUse& region : program.regions) {
      if (region.memory == memory.name) use += fmt::format(", {} {}", region.name, grouped(region.bytes));
    }
    text += fmt::format("{:<8} {:>11} bytes{}\n", memory.name, grouped(memory.bytes), use);
  }
  text += fmt::format("\n{:<40}  {:<8} {:>10}  {:>10}  {:>10}\n", "buffer", "memory", "bytes", "waits ~", "saves ~");
  for (size_t i = 0; i < std::min(rows.size(), kMost); ++i) {
    text += fmt::format("{:<40}  {:<8} {:>10}  {:>10}  {:>10}\n", shortened(program[rows[i].buffer].name),
                        rows[i].memory, grouped(rows[i].bytes), rounded(rows[i].cycles), rounded(rows[i].saves));
  }
  text.pop_back();
  return text;
}

/// RAM against time, as far as it was asked for.
std::string trade_curve(const Program& program) {
  if (program.trade_curve.empty()) return "";
  std::string text = fmt::format("\n\n{:>11}  {:>14}  {:>6}  streamed steps\n", "RAM bytes", "cycles (model)", "time");
  const auto fastest = static_cast<double>(program.trade_curve.front().cycles);
  for (const TradePoint& point : program.trade_curve) {
    text += fmt::format("{:>11}  {:>14}  {:>+5.1f}%  {}\n", grouped(point.ram_bytes), grouped(point.cycles),
                        100 * (static_cast<double>(point.cycles) / fastest - 1),
                        count_or_dash(static_cast<uint64_t>(point.streamed_steps)));
  }
  text.pop_back();
  return text;
}

}  // namespace

std::string report_text(const Program& program, std::span<const uint8_t> image) {
  const ProgramSummary s = summarize(program, image);
  std::string text = table(s.layers) + "\n" + float_layers(s.layers);
  text += warnings_line(program, image);
  text += fmt::format("Target {:>11}, {} MACs\n", program.target, grouped(s.macs));
  text += time_line(program, s);
  text += ram_line(s);
  text +=
      fmt::format("Flash  {:>11} bytes: weights and tables {}, steps and headers {}; kernels and runtime come on top",
                  grouped(s.image_bytes), grouped(s.constant_bytes), grouped(s.image_bytes - s.constant_bytes));
  text += memory_table(program);
  text += trade_curve(program);
  return text;
}

}  // namespace rush
