// SPDX-License-Identifier: Apache-2.0
#include "compiler/compare/values.h"

#include <algorithm>
#include <cstring>

namespace rush {
namespace {

/// Where the rows of an operand lie, if it is a map.
std::optional<Rows> rows_of(const ProgramStep& step, size_t operand) {
  if (operand >= step.rows_field.size() || step.rows_field[operand] < 0) return std::nullopt;
  Rows rows{};
  std::memcpy(&rows, step.params.data() + step.rows_field[operand], sizeof rows);
  return rows;
}

/// Copies as many bytes as both sides have: the last row of a part of the channels ends before its row does.
void copy_within(std::span<const uint8_t> from, size_t from_offset, HostTensor& to, size_t to_offset, size_t count) {
  if (from_offset >= from.size() || to_offset >= to.bytes()) return;
  count = std::min({count, from.size() - from_offset, to.bytes() - to_offset});
  std::memcpy(to.raw() + to_offset, from.data() + from_offset, count);
}

}  // namespace

Values values_of(const Graph& graph, GraphExecutor& executor, const Sample& inputs, Sample& outputs) {
  Values values;
  outputs = executor.run(inputs, [&](const Node& node, size_t output, const HostTensor& value) {
    values[graph[node.outputs[output]].name] = value;
  });
  return values;
}

void ProgramValues::add(size_t step_index, size_t operand, Band band, std::span<const uint8_t> bytes) {
  const ProgramStep& step = program_.steps.at(step_index);
  const OperandRef& ref = step.operands.at(operand);
  const Buffer& buffer = program_[ref.buffer];
  if (!buffer.type) return;  // scratch
  HostTensor& tensor = tensors_.try_emplace(ref.buffer, buffer.type->dtype, buffer.type->shape).first->second;
  const std::optional<Rows> rows = rows_of(step, operand);
  if (!rows) {
    if (band.end == step.rows) copy_within(bytes, 0, tensor, ref.offset, bytes.size());
    return;
  }
  for (int32_t y = band.begin; y < band.end; ++y) {
    const size_t row = static_cast<size_t>(y);
    copy_within(bytes, row_offset(*rows, static_cast<uint32_t>(y)), tensor, ref.offset + row * rows->row_bytes,
                rows->row_bytes);
  }
}

Values ProgramValues::take() {
  Values values;
  for (auto& [id, tensor] : tensors_) values[program_[id].name] = std::move(tensor);
  tensors_.clear();
  return values;
}

}  // namespace rush
