// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/emit/account_json.h"
#include "compiler/emit/image_reader.h"
#include "compiler/plan/choose.h"
#include "compiler/plan/cost.h"
#include "compiler/plan/lifetime.h"
#include "compiler/plan/memories.h"
#include "compiler/report/explain.h"
#include "compiler/report/report.h"
#include "compiler/report/summary.h"
#include "ops/op_def.h"

namespace rush {
namespace {

using Json = nlohmann::ordered_json;

Json layer_json(const ExplainedLayer& layer) {
  const LayerRow& row = layer.row;
  Json out = {{"layer", row.layer},
              {"source", row.source},
              {"node", row.node},
              {"op", row.op},
              {"kernel", row.kernel},
              {"becomes", row.becomes},
              {"inputs", row.inputs},
              {"outputs", row.outputs},
              {"first_step", row.first_step},
              {"step_count", row.step_count},
              {"macs", row.macs},
              {"estimated_cycles", std::llround(row.cycles)},
              {"constant_bytes", row.constant_bytes},
              {"output_bytes", row.output_bytes},
              {"bytes_moved", row.bytes_moved},
              {"regions", row.regions}};
  if (row.ring_rows > 0) out["ring_rows"] = row.ring_rows;
  out["reason"] = layer.reason;
  out["advice"] = advice_json(layer.advice);
  return out;
}

bool is_one_of(const std::vector<ProgramPort>& ports, BufferId buffer) {
  return std::ranges::find(ports, buffer, &ProgramPort::buffer) != ports.end();
}

/// What a buffer is for.
std::string_view kind_of(const Program& program, BufferId id) {
  if (program[id].kind == BufferKind::kState) return "state";
  for (const Entry& entry : program.entries) {
    if (is_one_of(entry.inputs, id)) return "input";
    if (is_one_of(entry.outputs, id)) return "output";
  }
  return program[id].type ? "activations" : "scratch";
}

Json buffer_json(const Program& program, const PlanRow& row) {
  const Buffer& buffer = program[row.buffer];
  Json out = {{"name", buffer.name},
              {"kind", kind_of(program, row.buffer)},
              {"region", program.regions.at(row.region - 1u).name},
              {"offset", row.offset},
              {"bytes", row.bytes},
              {"first_step", row.first_step},
              {"last_step", row.last_step}};
  if (buffer.type) out["type"] = to_string(*buffer.type);
  if (buffer.view_of) out["view_of"] = program[*buffer.view_of].name;
  return out;
}

Json port_json(const Program& program, const ProgramPort& port) {
  Json out = {{"name", port.name},
              {"dtype", dtype_name(port.exported_dtype)},
              {"shape", port.exported_shape},
              {"dtype_in_memory", dtype_name(port.type.dtype)},
              {"shape_in_memory", port.type.shape},
              {"dim_order", port.dim_order},
              {"offset", program[port.buffer].offset},
              {"bytes", program[port.buffer].bytes}};
  if (port.kept) out["kept"] = true;
  if (port.line_fed) out["line_fed"] = true;
  if (port.border && port.border->per_tensor()) {
    out["scale"] = port.border->scale[0];
    out["zero_point"] = port.border->zero_point[0];
  }
  return out;
}

Json entry_json(const Program& program, const Entry& entry) {
  Json out = {{"name", entry.name}, {"inputs", Json::array()}, {"outputs", Json::array()}};
  for (const ProgramPort& port : entry.inputs) out["inputs"].push_back(port_json(program, port));
  for (const ProgramPort& port : entry.outputs) out["outputs"].push_back(port_json(program, port));
  return out;
}

/// The step at which most of an arena is in use, and what that is.
Json peak_json(const Program& program, uint8_t region) {
  const Peak peak = find_peak(program, region);
  Json buffers = Json::array();
  uint64_t bytes = 0;
  for (const PeakTenant& tenant : peak.tenants) {
    bytes += tenant.bytes;
    buffers.push_back({{"name", program[tenant.buffer].name}, {"bytes", tenant.bytes}});
  }
  return {{"step", peak.step},
          {"region", program.regions.at(region - 1u).name},
          {"bytes", bytes},
          {"buffers", std::move(buffers)}};
}

Json region_json(const RegionUse& region) {
  Json out = {{"name", region.name}, {"kind", region_kind_name(region.kind)}, {"bytes", region.bytes}};
  if (!region.memory.empty()) out["memory"] = region.memory;
  return out;
}

Json memory_json(const Program& program, const ChipMemory& memory) {
  uint64_t used = 0;
  for (const RegionUse& region : program.regions) used += region.memory == memory.name ? region.bytes : 0;
  Json out = {{"name", memory.name}, {"kind", memory.is_flash ? "flash" : "ram"}, {"bytes", memory.bytes}};
  if (!memory.is_flash) out["used_bytes"] = used;
  out["section"] = memory.section;
  return out;
}

/// Where everything lies on a chip, and what that saves.
void add_memories(const Program& program, Json& out) {
  out["waiting_cycles"] = std::llround(memory_cycles(program));
  out["memories"] = Json::array();
  for (const ChipMemory& memory : program.memories) out["memories"].push_back(memory_json(program, memory));
  out["placed"] = Json::array();
  for (const MemoryRow& row : describe_memories(program))
    out["placed"].push_back({{"name", program[row.buffer].name},
                             {"memory", row.memory},
                             {"bytes", row.bytes},
                             {"waiting_cycles", std::llround(row.cycles)},
                             {"saved_cycles", std::llround(row.saves)}});
}

Json curve_json(const Program& program) {
  Json out = Json::array();
  for (const TradePoint& point : program.trade_curve)
    out.push_back({{"ram_bytes", point.ram_bytes}, {"cycles", point.cycles}, {"streamed_steps", point.streamed_steps}});
  return out;
}

}  // namespace

std::string report_json(const Program& program, std::span<const uint8_t> image, const ReportNames& names) {
  const ProgramSummary summary = summarize(program, image);
  Json out = {{"rushlight", RUSH_VERSION},
              {"model", names.model},
              {"symbol", names.symbol},
              {"target", program.target},
              {"isa", isa_name(program.isa)},
              {"opt", opt_name(program.opt)},
              {"image_bytes", summary.image_bytes},
              {"constant_bytes", summary.constant_bytes},
              {"arena_bytes", summary.plan.arena_bytes},
              {"arena_lower_bound_bytes", summary.plan.lower_bound},
              {"state_bytes", summary.plan.state_bytes},
              {"stack_bytes", summary.stack_bytes},
              {"macs", summary.macs},
              {"mhz", program.mhz},
              {"estimated_cycles", std::llround(summary.cycles)}};
  out["ram_bytes"] = total_ram(program);
  if (!program.trade_curve.empty()) out["trade_curve"] = curve_json(program);
  out["regions"] = Json::array();
  for (const RegionUse& region : program.regions) out["regions"].push_back(region_json(region));
  if (!program.memories.empty()) add_memories(program, out);
  out["entries"] = Json::array();
  for (const Entry& entry : program.entries) out["entries"].push_back(entry_json(program, entry));
  const Explanation explanation = explain(program, image);
  out["warnings"] = explanation.warnings();
  out["layers"] = Json::array();
  for (const ExplainedLayer& layer : explanation.layers) out["layers"].push_back(layer_json(layer));
  out["buffers"] = Json::array();
  for (const PlanRow& row : summary.plan.rows) out["buffers"].push_back(buffer_json(program, row));
  out["peaks"] = Json::array();
  for (size_t r = 0; r < program.regions.size(); ++r) {
    if (program.regions[r].kind == RegionKind::kArena)
      out["peaks"].push_back(peak_json(program, static_cast<uint8_t>(r + 1)));
  }
  out["image"] = account_json(account_for(ImageReader(image)));
  return out.dump(2);
}

}  // namespace rush
