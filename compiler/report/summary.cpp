// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/summary.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "compiler/plan/cost.h"
#include "ops/op_def.h"

namespace rush {
namespace {

BufferId root_of(const Program& program, BufferId id) {
  while (const auto parent = program[id].view_of) id = *parent;
  return id;
}

bool is_float(const ProgramStep& step) { return step.family->name.ends_with("_f32"); }

/// Families that only carry bytes from one place to another.
bool moves_data(const ProgramStep& step) {
  return step.family->op == "identity" || step.family->op == "permute" || step.family->op == "pad";
}

std::string becomes(const ProgramStep& step) {
  if (moves_data(step)) return "data movement";
  return is_float(step) ? "float kernel" : "integer kernel";
}

std::string kernel_name(const Program& program, const ProgramStep& step) {
  return std::string(step.family->name) + "_" + std::string(step.family->variant[static_cast<size_t>(program.isa)]);
}

int ring_rows(const ProgramStep& step, size_t operand) {
  if (operand >= step.rows_field.size() || step.rows_field[operand] < 0) return 0;
  Rows rows{};
  std::memcpy(&rows, step.params.data() + step.rows_field[operand], sizeof rows);
  return rows.reciprocal == 0 ? 0 : rows.ring_rows;
}

/// A ring's buffer is smaller than the map that goes through it.
uint64_t whole_bytes(const Buffer& buffer) {
  if (!buffer.type) return buffer.bytes;
  return static_cast<uint64_t>(element_count(buffer.type->shape)) * dtype_bytes(buffer.type->dtype);
}

class Summarizer {
 public:
  explicit Summarizer(const Program& program) : program_(program), cycles_(cycles_of_steps(program)) {}

  std::vector<LayerRow> layers() {
    std::vector<LayerRow> rows;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      if (i == 0 || !continues(i)) begin_row(i, rows);
      add_step(program_.steps[i], rows.back());
      rows.back().cycles += static_cast<double>(cycles_[i]);
      rows.back().step_count = static_cast<int>(i) - rows.back().first_step + 1;
    }
    return rows;
  }

 private:
  /// Whether a step belongs to the same node as the one before it.
  bool continues(size_t i) const {
    const ProgramStep &last = program_.steps[i - 1], &step = program_.steps[i];
    return last.name == step.name && last.family == step.family;
  }

  void begin_row(size_t i, std::vector<LayerRow>& rows) {
    const ProgramStep& step = program_.steps[i];
    LayerRow& row = rows.emplace_back();
    row.layer = step.origin.layer.empty() ? step.name : step.origin.layer;
    row.source = step.origin.source;
    row.node = step.name;
    row.op = step.family->op;
    row.kernel = kernel_name(program_, step);
    row.becomes = becomes(step);
    row.first_step = static_cast<int>(i);
    counted_.clear();
  }

  /// Each buffer of a row counts once, however many of its steps touch it.
  void add_step(const ProgramStep& step, LayerRow& row) {
    row.macs += step.macs;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const BufferId id = step.operands[i].buffer;
      if (!id.valid() || !counted_.insert(id).second) continue;
      const Buffer& buffer = program_[id];
      row.bytes_moved += whole_bytes(buffer);
      const bool written = fills(*step.family->host, i);
      if (written) add_region(buffer, row);
      if (buffer.kind == BufferKind::kConstant) {
        row.constant_bytes += buffer.bytes;
      } else if (buffer.type) {
        (written ? row.outputs : row.inputs).push_back(to_string(*buffer.type));
        if (!written) continue;
        row.ring_rows = ring_rows(step, i);
        row.output_bytes += buffer.bytes;
      }
    }
  }

  void add_region(const Buffer& buffer, LayerRow& row) {
    if (buffer.region == 0 || buffer.region > program_.regions.size()) return;  // not planned
    const std::string& name = program_.regions[buffer.region - 1u].name;
    if (!std::ranges::count(row.regions, name)) row.regions.push_back(name);
  }

  const Program& program_;
  const std::vector<uint64_t> cycles_;  ///< of each step
  std::set<BufferId> counted_;
};

uint32_t constant_bytes(const Program& program) {
  std::set<BufferId> used;
  for (const ProgramStep& step : program.steps) {
    for (const OperandRef& operand : step.operands) {
      if (operand.buffer.valid()) used.insert(root_of(program, operand.buffer));
    }
  }
  uint32_t bytes = 0;
  for (const BufferId id : used) bytes += program[id].kind == BufferKind::kConstant ? program[id].bytes : 0;
  return bytes;
}

/// The steps of entry 0; those of "init" lie behind them.
int steps_of_inference(const Program& program) {
  int steps = 0;
  const Entry& entry = program.entries.at(0);
  for (int i = 0; i < entry.chain_count; ++i)
    steps += program.chains.at(static_cast<size_t>(entry.first_chain + i)).step_count;
  return steps;
}

}  // namespace

ProgramSummary summarize(const Program& program, std::span<const uint8_t> image) {
  ProgramSummary summary;
  summary.layers = Summarizer(program).layers();
  summary.plan = describe_plan(program);
  const int first_of_others = steps_of_inference(program);
  for (const LayerRow& row : summary.layers) {
    summary.macs += row.macs;
    if (row.first_step < first_of_others) summary.cycles += row.cycles;
  }
  summary.constant_bytes = constant_bytes(program);
  summary.image_bytes = static_cast<uint32_t>(image.size());
  ImageHeader header;
  internal_check(image.size() >= sizeof header, "report: the image has no header");
  std::memcpy(&header, image.data(), sizeof header);
  summary.stack_bytes = header.stack_bytes;
  return summary;
}

}  // namespace rush
