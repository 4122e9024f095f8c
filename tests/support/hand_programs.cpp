// SPDX-License-Identifier: Apache-2.0
#include "tests/support/hand_programs.h"

#include <cstddef>

#include "compiler/plan/plan.h"
#include "ops/add/add.h"
#include "ops/clamp/clamp.h"
#include "ops/identity/copy.h"
#include "ops/op_def.h"

namespace rush {
namespace {

BufferId add_buffer(Program& program, const std::string& name, BufferKind kind, std::vector<uint8_t> data,
                    uint32_t offset) {
  Buffer buffer;
  buffer.name = name;
  buffer.kind = kind;
  buffer.bytes = static_cast<uint32_t>(data.size());
  buffer.region = kind == BufferKind::kConstant ? 0 : kind == BufferKind::kArena ? 1 : 2;
  buffer.offset = offset;
  if (kind != BufferKind::kArena) buffer.data = std::move(data);
  program.buffers.push_back(std::move(buffer));
  return {static_cast<int32_t>(program.buffers.size()) - 1};
}

template <class Params>
void add_step(Program& program, const std::string& family, const Params& params, std::vector<OperandRef> operands,
              uint16_t rows = 1) {
  ProgramStep step;
  step.family = find_kernel_family(family);
  step.params = params_bytes(params);
  step.operands = std::move(operands);
  step.rows = rows;
  step.name = family + "_step";
  step.origin = {"layers." + family, "model.py:7"};
  program.chains.push_back({.first_step = static_cast<int>(program.steps.size()), .step_count = 1, .links = {}});
  program.steps.push_back(std::move(step));
}

ProgramPort vector_port(const std::string& name, BufferId buffer) {
  ProgramPort port;
  port.name = name;
  port.buffer = buffer;
  port.type = {DType::kInt8, {kAccumulatorSize}, {}};
  port.exported_dtype = DType::kInt8;
  port.exported_shape = {kAccumulatorSize};
  port.dim_order = {0};
  return port;
}

ProgramPort map_port(const std::string& name, BufferId buffer, const Quant& quant) {
  ProgramPort port;
  port.name = name;
  port.buffer = buffer;
  port.type = {DType::kInt8, {1, 4, 2, 3}, quant};
  port.exported_dtype = DType::kFloat32;
  port.exported_shape = {1, 3, 4, 2};
  port.dim_order = {0, 2, 3, 1};
  port.border = quant;
  return port;
}

CopyParams copy_params(uint32_t bytes) {
  const Rows rows = whole_map(bytes, 1);
  return {rows, rows, 1, 0, 1, bytes, bytes, bytes};
}

/// (2a + 2b) >> 1: the sum itself.
AddParams sum_params(uint32_t bytes, Range range) {
  const Rows rows = whole_map(bytes, 1);
  return {{rows, rows, rows, 1, 1, 1, bytes, bytes, bytes}, {2, 2, 0, 1}, range};
}

constexpr uint32_t kMapBytes = kClampRows * kClampRowBytes;
constexpr BufferId kX{0}, kY{1};

Program empty_clamp_program(Isa isa) {
  Program program;
  program.isa = isa;
  add_buffer(program, "x", BufferKind::kArena, std::vector<uint8_t>(kMapBytes), 0);
  add_buffer(program, "y", BufferKind::kArena, std::vector<uint8_t>(kMapBytes), kMapBytes + 1);
  return program;
}

void add_clamp(Program& program, OperandRef from, OperandRef to, Range range) {
  const Rows rows = whole_map(kClampRowBytes, kClampRows);
  add_step(program, "clamp_s8", ClampParams{rows, rows, kClampRows, 0, kClampRowBytes, range}, {from, to}, kClampRows);
  program.steps.back().row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}};
  program.steps.back().rows_field = {offsetof(ClampParams, in), offsetof(ClampParams, out)};
}

void finish_clamp_program(Program& program, int chain_count) {
  const Quant quant{.scale = {0.1}, .zero_point = {-3}, .axis = -1, .min = -127, .max = 127};
  program.entries = {{"main", 0, chain_count, {map_port("x", kX, quant)}, {map_port("y", kY, quant)}}};
  program.regions = {{"arena", RegionKind::kArena, 2 * kMapBytes + 1}};
  program.labels = {"dark", "light"};
}

}  // namespace

Program clamp_program(Isa isa) {
  Program program = empty_clamp_program(isa);
  add_clamp(program, {kX}, {kY}, {kClampMin, kClampMax});
  finish_clamp_program(program, 1);
  return program;
}

Program clamp_chain_program(Isa isa) {
  Program program = empty_clamp_program(isa);
  const BufferId between = add_buffer(program, "between", BufferKind::kArena, std::vector<uint8_t>(kMapBytes), 0);
  add_clamp(program, {kX}, {between}, {kClampMin, 127});
  add_clamp(program, {between}, {kY}, {-128, kClampMax});
  finish_clamp_program(program, 2);
  make_chain(program, 0, 2);
  program.entries[0].chain_count = 1;
  plan_memory(program);
  return program;
}

Program accumulator_program(Isa isa) {
  Program program;
  program.isa = isa;
  const std::vector<uint8_t> start(kAccumulatorSize, kAccumulatorStart);
  const BufferId x = add_buffer(program, "x", BufferKind::kArena, start, 0);
  const BufferId y = add_buffer(program, "y", BufferKind::kArena, start, 24);
  const BufferId state = add_buffer(program, "state", BufferKind::kState, start, 0);
  const BufferId initial = add_buffer(program, "initial", BufferKind::kConstant, start, 0);
  add_step(program, "add_s8", sum_params(kAccumulatorSize, {-100, 100}), {{x}, {state}, {y}});
  add_step(program, "copy", copy_params(kAccumulatorSize), {{y}, {state}});
  add_step(program, "copy", copy_params(kAccumulatorSize), {{initial}, {state}});
  program.entries = {{"step", 0, 2, {vector_port("x", x)}, {vector_port("y", y)}}, {"init", 2, 1, {}, {}}};
  program.regions = {{"arena", RegionKind::kArena, 48}, {"state", RegionKind::kState, 21}};
  return program;
}

}  // namespace rush
