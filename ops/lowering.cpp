// SPDX-License-Identifier: Apache-2.0
//
// Lowering's bookkeeping: tensors become buffers on first mention, equal constants become one.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/op_def.h"
#include "ops/program.h"

namespace rush {
namespace {

uint32_t natural_alignment(DType dtype) { return static_cast<uint32_t>(std::min<size_t>(dtype_bytes(dtype), 4)); }

BufferId append(Program& program, Buffer buffer) {
  program.buffers.push_back(std::move(buffer));
  return {static_cast<int32_t>(program.buffers.size()) - 1};
}

constexpr std::array<std::string_view, 3> kOptNames = {"balanced", "speed", "size"};

}  // namespace

std::string_view opt_name(Opt opt) { return kOptNames.at(static_cast<size_t>(opt)); }

std::optional<Opt> parse_opt(std::string_view name) {
  const auto it = std::ranges::find(kOptNames, name);
  if (it == kOptNames.end()) return std::nullopt;
  return static_cast<Opt>(it - kOptNames.begin());
}

BufferId Lowering::buffer(TensorId id) {
  if (const auto it = buffers_.find(id); it != buffers_.end()) return it->second;
  const Tensor& tensor = graph_[id];
  BufferId made;
  if (tensor.is_constant()) {
    made = constant(tensor.name, {tensor.data->raw(), tensor.data->raw() + tensor.data->bytes()},
                    natural_alignment(tensor.type.dtype));
  } else {
    const auto bytes =
        static_cast<uint32_t>(element_count(tensor.type.shape)) * static_cast<uint32_t>(dtype_bytes(tensor.type.dtype));
    made = append(program_, {.name = tensor.name,
                             .kind = BufferKind::kArena,
                             .bytes = bytes,
                             .alignment = natural_alignment(tensor.type.dtype),
                             .data = {},
                             .type = tensor.type,
                             .view_of = {}});
  }
  buffers_[id] = made;
  return made;
}

BufferId Lowering::constant(std::string name, std::vector<uint8_t> bytes, uint32_t alignment) {
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    Buffer& old = program_.buffers[i];
    if (old.kind != BufferKind::kConstant || old.data != bytes) continue;
    old.alignment = std::max(old.alignment, alignment);
    return {static_cast<int32_t>(i)};
  }
  const auto size = static_cast<uint32_t>(bytes.size());
  return append(program_, {.name = std::move(name),
                           .kind = BufferKind::kConstant,
                           .bytes = size,
                           .alignment = alignment,
                           .data = std::move(bytes),
                           .type = {},
                           .view_of = {}});
}

BufferId Lowering::packed(std::string name, const KernelFamily& family, const void* params,
                          std::span<const uint8_t> canonical) {
  return constant(std::move(name), pack(family.host->packing, isa(), params, canonical), 4);
}

BufferId Lowering::scratch(std::string name, uint32_t bytes, uint32_t alignment) {
  return append(program_, {.name = std::move(name),
                           .kind = BufferKind::kArena,
                           .bytes = bytes,
                           .alignment = alignment,
                           .data = {},
                           .type = {},
                           .view_of = {}});
}

void Lowering::make_view(TensorId alias, TensorId of) {
  Buffer view = program_[buffer(of)];
  view.name = graph_[alias].name;
  view.type = graph_[alias].type;
  view.view_of = buffer(of);
  buffers_[alias] = append(program_, std::move(view));
}

void Lowering::emit(ProgramStep step) {
  internal_check(node_ != nullptr && step.family != nullptr, "emit: no node or kernel family");
  internal_check(step.operands.size() == step.family->host->contract->operand_count,
                 "emit: " + std::string(step.family->name) + " given a wrong number of operands");
  step.name = node_->name;
  step.origin = node_->origin;
  if (step.row_by_row) {
    step.row_by_row->name = step.name;
    step.row_by_row->origin = step.origin;
  }
  program_.chains.push_back({.first_step = static_cast<int>(program_.steps.size()), .step_count = 1, .links = {}});
  program_.steps.push_back(std::move(step));
}

std::optional<Multiplier> quantize_multiplier(double scale) {
  internal_check(scale > 0 && std::isfinite(scale), "quantize_multiplier: scale must be positive and finite");
  int exponent = 0;
  const double fraction = std::frexp(scale, &exponent);  // scale = fraction * 2^exponent, fraction in [1/2, 1)
  int64_t multiplier = std::llround(fraction * 2147483648.0);
  if (multiplier == int64_t(1) << 31) {
    multiplier /= 2;
    ++exponent;
  }
  // scale = multiplier * 2^(exponent - 31) = multiplier / 2^(32 + shift)
  const int shift = -1 - exponent;
  if (shift < -30) return std::nullopt;
  return Multiplier{static_cast<int32_t>(multiplier), std::min(shift, 31)};
}

}  // namespace rush
