// SPDX-License-Identifier: Apache-2.0
//
// Pad on the host. Lowering folds axes that stay as they are into the axis before them, so that a map becomes rows
// of one segment; what is left beyond rows, segments and elements is walked by one step each.
#include "ops/pad/pad_op.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include "ops/node_error.h"
#include "ops/pad/pad.h"
#include "ops/quantization.h"

namespace rush {
namespace {

struct Axis {
  int64_t size = 1;
  int64_t before = 0;  ///< negative: cut off
  int64_t after = 0;

  int64_t out() const { return before + size + after; }
  int64_t skipped() const { return std::max<int64_t>(-before, 0); }
  int64_t copied() const { return size + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0); }
  int64_t filled_before() const { return std::max<int64_t>(before, 0); }
  int64_t filled_after() const { return std::max<int64_t>(after, 0); }
  bool plain() const { return before == 0 && after == 0; }
};
using Axes = std::vector<Axis>;

Axes axes_of(const NodeTypes& types) {
  const std::vector<int64_t>& amounts = types.node.as<Pad>()->amounts;
  const Shape& shape = types.input(0).shape;
  Axes axes;
  for (size_t i = 0; i < shape.size(); ++i) axes.push_back({shape[i], amounts.at(2 * i), amounts.at(2 * i + 1)});
  return axes;
}

std::vector<TensorType> infer(const NodeTypes& types) {
  TensorType type = types.input(0);
  if (types.node.as<Pad>()->amounts.size() != 2 * type.shape.size())
    throw node_error(types, "needs two amounts for each axis", "give the padding of every axis, before and after");
  const Axes axes = axes_of(types);
  for (size_t i = 0; i < axes.size(); ++i) {
    type.shape[i] = axes[i].out();
    if (axes[i].out() <= 0)
      throw node_error(types, fmt::format("cuts off all of axis {}", i), "cut off less than the axis has");
  }
  return {type};
}

double fill_value(const NodeTypes& types) {
  const double value = types.node.as<Pad>()->value;
  const auto& quant = types.input(0).quant;
  return quant ? quantize_code(value, *quant) : value;
}

/// Row-major index in the input of an output element, or -1 for padding.
int64_t input_index(const Axes& axes, int64_t i) {
  int64_t index = 0, stride = 1;
  for (size_t k = axes.size(); k-- > 0;) {
    const int64_t at = i % axes[k].out() - axes[k].before;
    if (at < 0 || at >= axes[k].size) return -1;
    index += at * stride;
    stride *= axes[k].size;
    i /= axes[k].out();
  }
  return index;
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const Axes axes = axes_of(types);
  const size_t width = dtype_bytes(inputs[0]->dtype());
  HostTensor out(inputs[0]->dtype(), types.output().shape);
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t from = input_index(axes, i);
    if (from < 0) {
      out.set_number(i, fill_value(types));
    } else {
      std::memcpy(out.raw() + static_cast<size_t>(i) * width, inputs[0]->raw() + static_cast<size_t>(from) * width,
                  width);
    }
  }
  return {out};
}

/// Appends an axis to others, into the last of them if it is not padded itself.
void append_folded(Axes& axes, const Axis& axis) {
  if (!axis.plain() || axes.empty()) return axes.push_back(axis);
  Axis& last = axes.back();
  last = {last.size * axis.size, last.before * axis.size, last.after * axis.size};
}

Axes folded(std::span<const Axis> axes) {
  Axes out;
  for (const Axis& axis : axes) append_folded(out, axis);
  return out;
}

/// ..., rows, segments, elements. A map keeps its rows.
Axes canonical_axes(const Axes& axes) {
  Axes out, inner;
  if (axes.size() == 4) {
    out = {axes[0], axes[1]};
    inner = folded(std::span(axes).subspan(2));
  } else {
    inner = folded(axes);
  }
  const size_t least = out.empty() ? 3 : 2;
  if (inner.size() < least) inner.insert(inner.begin(), least - inner.size(), Axis{});
  out.insert(out.end(), inner.begin(), inner.end());
  return out;
}

/// One step's part of the whole: the innermost three axes.
struct Slab {
  Axis rows, segments, elements;
  int64_t width;

  int64_t in_row_bytes() const { return segments.size * elements.size * width; }
  int64_t out_row_bytes() const { return segments.out() * elements.out() * width; }
  int64_t in_bytes() const { return rows.size * in_row_bytes(); }
  int64_t out_bytes() const { return rows.out() * out_row_bytes(); }
  int64_t first_copied() const { return (segments.skipped() * elements.size + elements.skipped()) * width; }
  bool copies() const { return rows.copied() > 0 && segments.copied() > 0 && elements.copied() > 0; }
};

/// Where a slab only fills, the one input row that its parameters speak of is never in sight.
PadParams params_of(const Slab& slab, bool copies, uint32_t value) {
  const auto u32 = [](int64_t count) { return static_cast<uint32_t>(count); };
  PadParams p{};
  p.out = whole_map(u32(slab.out_row_bytes()), u32(slab.rows.out()));
  p.rows = static_cast<uint16_t>(slab.rows.out());
  p.value = value;
  if (!copies) {
    p.in = whole_map(u32(slab.width), 1);
    p.in_rows = 1;
    p.top = static_cast<int16_t>(slab.rows.out());
    p.segments = p.elements = p.in_pitch = 1;
    p.right = u32(slab.out_row_bytes() / slab.width - 1);
    return p;
  }
  p.in = whole_map(u32(slab.in_row_bytes()), u32(slab.rows.size));
  p.in_rows = static_cast<uint16_t>(slab.rows.size);
  p.top = static_cast<int16_t>(slab.rows.before);
  p.segments = u32(slab.segments.copied());
  p.elements = u32(slab.elements.copied());
  p.in_pitch = u32(slab.elements.size);
  p.before = u32(slab.segments.filled_before() * slab.elements.out());
  p.after = u32(slab.segments.filled_after() * slab.elements.out());
  p.left = u32(slab.elements.filled_before());
  p.right = u32(slab.elements.filled_after());
  return p;
}

class PadLowering {
 public:
  PadLowering(const NodeTypes& types, Lowering& lowering)
      : types_(types), lowering_(lowering), axes_(canonical_axes(axes_of(types))) {
    const size_t outer = axes_.size() - 3;
    slab_ = {axes_[outer], axes_[outer + 1], axes_[outer + 2], static_cast<int64_t>(dtype_bytes(types.input(0).dtype))};
    outer_.assign(axes_.begin(), axes_.begin() + static_cast<ptrdiff_t>(outer));
  }

  std::optional<std::string> lower() {
    if (slab_.rows.size > INT16_MAX || slab_.rows.out() > INT16_MAX || slab_count() > kMaxSlabs)
      return "pad of " + to_string(types_.input(0)) + " to " + to_string(types_.output().shape) + " has no kernel";
    for (int64_t i = 0; i < slab_count(); ++i) emit_slab(i, input_index(outer_, i));
    return std::nullopt;
  }

 private:
  static constexpr int64_t kMaxSlabs = 1024;  ///< each is a step, so the image grows with them

  int64_t slab_count() const {
    int64_t count = 1;
    for (const Axis& axis : outer_) count *= axis.out();
    return count;
  }

  uint32_t value_bits() const {
    const double value = fill_value(types_);
    if (slab_.width == 1) return static_cast<uint32_t>(static_cast<int32_t>(value));
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  }

  void emit_slab(int64_t out_index, int64_t in_index) {
    const bool copies = in_index >= 0 && slab_.copies();
    const PadParams params = params_of(slab_, copies, value_bits());
    const int64_t in_offset = copies ? in_index * slab_.in_bytes() + slab_.first_copied() : 0;
    ProgramStep step = {
        .family = find_kernel_family(slab_.width == 1 ? "pad_s8" : "pad_f32"),
        .params = params_bytes(params),
        .operands = {{lowering_.buffer(types_.node.inputs[0]), static_cast<uint32_t>(in_offset)},
                     {lowering_.buffer(types_.node.out()), static_cast<uint32_t>(out_index * slab_.out_bytes())}},
        .rows = params.rows,
        .row_dependencies = {{.operand = 0, .stride = 1, .lead = -params.top, .span = 1}},
        .rows_field = {offsetof(PadParams, in), offsetof(PadParams, out)}};
    lowering_.emit(std::move(step));
  }

  const NodeTypes& types_;
  Lowering& lowering_;
  Axes axes_, outer_;
  Slab slab_;
};

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (!is_quantized_int8(types.input(0)) && types.input(0).dtype != DType::kFloat32)
    return "pad of " + to_string(types.input(0)) + " has no kernel";
  return PadLowering(types, lowering).lower();
}

}  // namespace

const OpDef pad_op = {Pad::kName, [] { return Op(Pad{}); }, infer, evaluate, lower, QuantRule::kMoved};

const HostKernel pad_s8_host = {.contract = &pad_s8_contract, .run = pad_s8_scalar, .packing = {}, .stack_bytes = 128};
const HostKernel pad_f32_host = {
    .contract = &pad_f32_contract, .run = pad_f32_scalar, .packing = {}, .stack_bytes = 128};

}  // namespace rush
