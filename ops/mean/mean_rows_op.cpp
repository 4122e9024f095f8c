// SPDX-License-Identifier: Apache-2.0
#include "ops/mean/mean_rows_op.h"

#include <cstddef>
#include <cstring>

namespace rush {

std::shared_ptr<ProgramStep> mean_rows_step(const NodeTypes& types, Lowering& lowering, const MeanOfMap& mean) {
  if (mean.rows < 2 || mean.rows >= 0x8000 || mean.columns > kMeanRowsMostColumns || mean.channels > 0xffff)
    return nullptr;
  const auto channels = static_cast<uint16_t>(mean.channels);
  const MeanRowsParams params = {
      .in = whole_map(static_cast<uint32_t>(mean.columns * mean.channels), static_cast<uint32_t>(mean.rows)),
      .rows = static_cast<uint16_t>(mean.rows),
      .columns = static_cast<uint16_t>(mean.columns),
      .channels = channels,
      .reserved = 0,
      .scale = mean.scale,
      .offset = mean.offset,
      .range = mean.range};
  const BufferId sums = lowering.scratch(types.node.name + ".sums", 4 * mean_rows_sums(channels), 4);
  lowering.program()[sums].across_bands = true;
  auto step = std::make_shared<ProgramStep>();
  step->family = find_kernel_family("mean_rows_s8");
  step->params = params_bytes(params);
  step->operands = {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}, {sums}};
  step->rows = params.rows;
  step->row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}};
  step->rows_field = {offsetof(MeanRowsParams, in), -1, -1};
  return step;
}

ProgramStep in_one_piece(const std::shared_ptr<ProgramStep>& by_rows) {
  ProgramStep step = *by_rows;
  MeanRowsParams params;
  std::memcpy(&params, step.params.data(), sizeof params);
  const uint32_t pixels = static_cast<uint32_t>(params.rows) * params.columns;
  if (pixels <= kMeanRowsMostColumns) {
    params.in = whole_map(pixels * params.channels, 1);
    params.rows = step.rows = 1;
    params.columns = static_cast<uint16_t>(pixels);
    step.params = params_bytes(params);
    step.row_dependencies.clear();
    step.rows_field.clear();
  }
  step.row_by_row = by_rows;
  return step;
}

const HostKernel mean_rows_s8_host = {.contract = &mean_rows_s8_contract,
                                      .run = mean_rows_s8_scalar,
                                      .packing = {},
                                      .stack_bytes = 160,
                                      .rows_at_once = 1};

}  // namespace rush
