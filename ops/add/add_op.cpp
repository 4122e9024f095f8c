// SPDX-License-Identifier: Apache-2.0
//
// Add on the host: NumPy's broadcasting becomes rows of blocks.
//
// Neighbouring axes along which both operands behave alike are one axis. The innermost is the block, the next the
// blocks of a row, the third the rows; what is left over takes one step each. A map keeps its own rows, so that it
// can run in bands.
#include "ops/add/add_op.h"

#include <algorithm>
#include <cstddef>

#include "ops/add/add_ref.h"
#include "ops/node_error.h"
#include "ops/quantization.h"

namespace rush {
namespace {

constexpr int64_t kMaxSteps = 64;
constexpr int64_t kMaxRows = (1 << 15) - 1;

/// One axis of the output, and which operands advance along it.
struct Axis {
  int64_t size = 1;
  bool a = true;
  bool b = true;
};

int64_t size_at(const Shape& shape, size_t axis, size_t rank) {
  const size_t missing = rank - shape.size();
  return axis < missing ? 1 : shape[axis - missing];
}

std::vector<TensorType> infer(const NodeTypes& types) {
  const TensorType &a = types.input(0), &b = types.input(1);
  if (a.dtype != b.dtype) throw damaged_node(types, "operands of different types cannot be added");
  Shape shape(std::max(a.shape.size(), b.shape.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t from_a = size_at(a.shape, i, shape.size()), from_b = size_at(b.shape, i, shape.size());
    if (from_a != from_b && from_a != 1 && from_b != 1) throw damaged_node(types, "shapes do not broadcast together");
    shape[i] = from_a == 1 ? from_b : from_a;
  }
  return {{a.dtype, shape, {}}};
}

/// Output axes [begin, end), merged where both operands behave alike; axes of size 1 vanish.
std::vector<Axis> merged_axes(const NodeTypes& types, size_t begin, size_t end) {
  const Shape& out = types.output().shape;
  std::vector<Axis> axes;
  for (size_t i = begin; i < end; ++i) {
    if (out[i] == 1) continue;
    const Axis axis = {out[i], size_at(types.input(0).shape, i, out.size()) != 1,
                       size_at(types.input(1).shape, i, out.size()) != 1};
    if (!axes.empty() && axes.back().a == axis.a && axes.back().b == axis.b) {
      axes.back().size *= axis.size;
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

/// The output's axes, by what walks along them; `steps` outermost first.
struct Nest {
  std::vector<Axis> steps;
  Axis rows;
  Axis blocks;
  Axis block;
  bool is_map = false;
};

Axis take_last(std::vector<Axis>& axes) {
  if (axes.empty()) return {};
  const Axis last = axes.back();
  axes.pop_back();
  return last;
}

Nest nest_of(const NodeTypes& types) {
  const Shape& out = types.output().shape;
  Nest nest;
  nest.is_map = elementwise_rows(out).rows > 1;
  std::vector<Axis> axes = merged_axes(types, nest.is_map ? 2 : 0, out.size());
  nest.block = take_last(axes);
  nest.blocks = take_last(axes);
  nest.rows = nest.is_map ? merged_axes(types, 1, 2).at(0) : take_last(axes);
  nest.steps = axes;
  return nest;
}

/// How one operand lies under the nest; everything in elements.
struct Operand {
  Rows rows;
  uint32_t block_step;
  int64_t elements;  ///< of one step
  bool repeats;
};

Operand operand_of(const Nest& nest, bool Axis::* advances) {
  const int64_t block = nest.block.*advances ? nest.block.size : 1;
  const int64_t row = nest.blocks.*advances ? nest.blocks.size * block : block;
  const auto row_elements = static_cast<uint32_t>(row);
  Operand operand{};
  operand.block_step = nest.blocks.*advances ? static_cast<uint32_t>(block) : 0;
  operand.elements = nest.rows.*advances ? nest.rows.size * row : row;
  operand.repeats = operand.elements != nest.rows.size * nest.blocks.size * nest.block.size;
  // A row that repeats is a ring of one: row_offset's quotient is then y itself.
  operand.rows = nest.rows.*advances ? whole_map(row_elements, static_cast<uint32_t>(nest.rows.size))
                                     : Rows{row_elements, 1, 1 << 15};
  return operand;
}

AddWalk walk_of(const Nest& nest, const Operand& a, const Operand& b, uint32_t element_bytes) {
  const auto in_bytes = [&](Rows rows) {
    return Rows{rows.row_bytes * element_bytes, rows.ring_rows, rows.reciprocal};
  };
  const auto row_bytes = static_cast<uint32_t>(nest.blocks.size * nest.block.size) * element_bytes;
  return {.a = in_bytes(a.rows),
          .b = in_bytes(b.rows),
          .out = whole_map(row_bytes, static_cast<uint32_t>(nest.rows.size)),
          .rows = static_cast<uint16_t>(nest.rows.size),
          .b_step = nest.block.b,
          .blocks = static_cast<uint32_t>(nest.blocks.size),
          .block_elements = static_cast<uint32_t>(nest.block.size),
          .a_block_bytes = a.block_step * element_bytes,
          .b_block_bytes = b.block_step * element_bytes};
}

/// The two inputs in the order in which the kernel wants them: the first advances inside a block.
struct Order {
  size_t a;
  size_t b;
};

/// Offsets, in steps' elements, of an operand at each combination of the outer axes.
std::vector<int64_t> step_offsets(const std::vector<Axis>& outer, bool Axis::* advances, int64_t elements) {
  std::vector<int64_t> offsets{0};
  for (const Axis& axis : outer) {
    std::vector<int64_t> finer;
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < axis.size; ++i) finer.push_back(axis.*advances ? offset * axis.size + i : offset);
    }
    offsets = std::move(finer);
  }
  for (int64_t& offset : offsets) offset *= elements;
  return offsets;
}

/// In place and in bands, where an operand allows it. A row that repeats must be there before the first band.
void describe_operand(ProgramStep& step, const Nest& nest, const Operand& operand, int index) {
  const bool whole = nest.steps.empty(), repeats_row = operand.rows.reciprocal != 0;
  if (whole && !operand.repeats) step.in_place.push_back({index, 2});
  if (!whole || !nest.is_map || repeats_row) return;
  step.row_dependencies.push_back({.operand = index, .stride = 1, .lead = 0, .span = 1});
  step.rows_field[static_cast<size_t>(index)] = index == 0 ? offsetof(AddWalk, a) : offsetof(AddWalk, b);
}

/// Emits the steps; `make_params` turns a walk into the family's parameters.
template <class MakeParams>
void emit_steps(const NodeTypes& types, Lowering& lowering, const Nest& nest, Order order, MakeParams make_params) {
  const uint32_t bytes = types.output().dtype == DType::kInt8 ? 1 : 4;
  const Operand a = operand_of(nest, &Axis::a), b = operand_of(nest, &Axis::b);
  const AddWalk walk = walk_of(nest, a, b, bytes);
  const auto a_offsets = step_offsets(nest.steps, &Axis::a, a.elements);
  const auto b_offsets = step_offsets(nest.steps, &Axis::b, b.elements);
  const int64_t out_elements = nest.rows.size * nest.blocks.size * nest.block.size;
  for (size_t i = 0; i < a_offsets.size(); ++i) {
    ProgramStep step{.params = params_bytes(make_params(walk)), .operands = {}, .rows = walk.rows};
    step.family = find_kernel_family(bytes == 1 ? "add_s8" : "add_f32");
    step.operands = {
        {lowering.buffer(types.node.inputs[order.a]), static_cast<uint32_t>(a_offsets[i]) * bytes},
        {lowering.buffer(types.node.inputs[order.b]), static_cast<uint32_t>(b_offsets[i]) * bytes},
        {lowering.buffer(types.node.out()), static_cast<uint32_t>(static_cast<int64_t>(i) * out_elements) * bytes}};
    step.rows_field = {-1, -1, nest.is_map && nest.steps.empty() ? static_cast<int>(offsetof(AddWalk, out)) : -1};
    describe_operand(step, nest, a, 0);
    describe_operand(step, nest, b, 1);
    lowering.emit(std::move(step));
  }
}

int64_t step_count(const Nest& nest) {
  int64_t steps = 1;
  for (const Axis& axis : nest.steps) steps *= axis.size;
  return steps;
}

std::optional<std::string> lower_int8(const NodeTypes& types, Lowering& lowering, const Nest& nest, Order order) {
  const Add& add = *types.node.as<Add>();
  auto scale = add_scale(*types.input(0).quant, *types.input(1).quant, add.alpha, *types.output().quant);
  if (!scale) return std::string(kAddScaleRefusal);
  if (order.a == 1) std::swap(scale->a_multiplier, scale->b_multiplier);
  const Range range = code_range(*types.output().quant, add.min, add.max);
  emit_steps(types, lowering, nest, order, [&](const AddWalk& walk) { return AddParams{walk, *scale, range}; });
  return std::nullopt;
}

void lower_float(const NodeTypes& types, Lowering& lowering, const Nest& nest, Order order) {
  const Add& add = *types.node.as<Add>();
  const auto alpha = static_cast<float>(add.alpha);
  emit_steps(types, lowering, nest, order, [&](const AddWalk& walk) {
    return AddF32Params{walk, order.a == 1 ? alpha : 1, order.a == 1 ? 1 : alpha, static_cast<float>(add.min),
                        static_cast<float>(add.max)};
  });
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  Nest nest = nest_of(types);
  if (step_count(nest) > kMaxSteps || nest.rows.size > kMaxRows)
    return "an addition that broadcasts both operands along " + std::to_string(nest.steps.size() + 3) +
           " alternating axes has no kernel";
  Order order = {0, 1};
  if (!nest.block.a) {
    std::swap(order.a, order.b);
    for (Axis* axis : {&nest.rows, &nest.blocks, &nest.block}) std::swap(axis->a, axis->b);
    for (Axis& axis : nest.steps) std::swap(axis.a, axis.b);
  }
  const bool codes = is_quantized_int8(types.input(0)) && is_quantized_int8(types.input(1));
  if (codes && is_quantized_int8(types.output())) return lower_int8(types, lowering, nest, order);
  if (types.output().dtype != DType::kFloat32)
    return "addition of " + to_string(types.input(0)) + " and " + to_string(types.input(1)) + " has no kernel";
  lower_float(types, lowering, nest, order);
  return std::nullopt;
}

}  // namespace

const OpDef add_op = {Add::kName, [] { return Op(Add{}); }, infer, evaluate_add, lower, QuantRule::kRescaled, true};

const HostKernel add_s8_host = {.contract = &add_s8_contract, .run = add_s8_scalar, .packing = {}, .stack_bytes = 448};
const HostKernel add_f32_host = {.contract = &add_f32_contract, .run = add_f32_scalar, .packing = {}};

}  // namespace rush
