// SPDX-License-Identifier: Apache-2.0
//
// Mean on the host: types, reference, lowering.
#include "ops/mean/mean_op.h"

#include <algorithm>

#include "ops/avg_pool2d/average_ref.h"
#include "ops/mean/mean.h"
#include "ops/mean/mean_rows_op.h"
#include "ops/node_error.h"
#include "ops/quantization.h"

namespace rush {
namespace {

bool is_reduced(const Mean& mean, size_t axis) {
  return std::ranges::find(mean.axes, static_cast<int64_t>(axis)) != mean.axes.end();
}

std::vector<TensorType> infer(const NodeTypes& types) {
  const Mean& mean = *types.node.as<Mean>();
  const Shape& in = types.input(0).shape;
  const bool ascends = std::ranges::adjacent_find(mean.axes, std::greater_equal<>()) == mean.axes.end();
  if (!ascends || (!mean.axes.empty() && (mean.axes.front() < 0 || mean.axes.back() >= std::ssize(in))))
    throw damaged_node(types, "the axes do not fit the input");
  Shape shape;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    if (!is_reduced(mean, axis)) {
      shape.push_back(in[axis]);
    } else if (mean.keepdim) {
      shape.push_back(1);
    }
  }
  return {{types.input(0).dtype, shape, {}}};
}

int64_t reduced_count(const NodeTypes& types) {
  int64_t count = 1;
  for (const int64_t axis : types.node.as<Mean>()->axes) count *= types.input(0).shape[static_cast<size_t>(axis)];
  return count;
}

/// For each output element, the input elements that it is the mean of, in the input's order.
std::vector<std::vector<int64_t>> sources_of(const NodeTypes& types) {
  const Mean& mean = *types.node.as<Mean>();
  const Shape& in = types.input(0).shape;
  std::vector<std::vector<int64_t>> sources(static_cast<size_t>(element_count(types.output().shape)));
  for (int64_t i = 0; i < element_count(in); ++i) {
    int64_t rest = i, place = 1, target = 0;
    for (size_t axis = in.size(); axis-- > 0; rest /= in[axis]) {
      if (is_reduced(mean, axis)) continue;
      target += rest % in[axis] * place;
      place *= in[axis];
    }
    sources[static_cast<size_t>(target)].push_back(i);
  }
  return sources;
}

int8_t mean_of_codes(const NodeTypes& types, const HostTensor& in, const std::vector<int64_t>& sources) {
  const Quant &from = *types.input(0).quant, &to = *types.output().quant;
  int64_t sum = 0;
  for (const int64_t i : sources) sum += in.as<int8_t>()[i] - from.zero_point[0];
  return static_cast<int8_t>(std::clamp(mean_code(sum, std::ssize(sources), from, to), to.min, to.max));
}

float mean_of_floats(const HostTensor& in, const std::vector<int64_t>& sources) {
  float total = 0;
  for (size_t begin = 0; begin < sources.size(); begin += kMeanBlock) {
    float block = 0;
    for (size_t i = begin; i < std::min(sources.size(), begin + kMeanBlock); ++i) block += in.as<float>()[sources[i]];
    total += block;
  }
  return total * (1.0f / static_cast<float>(sources.size()));
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  HostTensor out(types.output().dtype, types.output().shape);
  const auto sources = sources_of(types);
  for (size_t i = 0; i < sources.size(); ++i) {
    if (is_quantized_int8(types.output())) {
      out.as<int8_t>()[i] = mean_of_codes(types, *inputs[0], sources[i]);
    } else {
      out.as<float>()[i] = mean_of_floats(*inputs[0], sources[i]);
    }
  }
  return {out};
}

/// Neighbouring axes of a kind are one; null if more than two of a kind are left.
std::optional<MeanNest> nest_of(const NodeTypes& types) {
  const Mean& mean = *types.node.as<Mean>();
  const Shape& in = types.input(0).shape;
  std::vector<MeanAxis> kept, reduced;  // innermost first
  std::vector<MeanAxis>* last = nullptr;
  uint32_t stride = 1;
  for (size_t axis = in.size(); axis-- > 0;) {
    if (in[axis] == 1) continue;
    auto& kind = is_reduced(mean, axis) ? reduced : kept;
    const auto size = static_cast<uint32_t>(in[axis]);
    if (last == &kind) {
      kind.back().count *= size;
    } else {
      kind.push_back({size, stride});
    }
    last = &kind;
    stride *= size;
  }
  if (kept.size() > 2 || reduced.size() > 2) return std::nullopt;
  kept.resize(2, {1, 1});
  reduced.resize(2, {1, 1});
  return MeanNest{{kept[1], kept[0]}, {reduced[1], reduced[0]}};
}

template <class Params>
ProgramStep mean_step(const NodeTypes& types, Lowering& lowering, std::string_view family, const Params& params) {
  return {.family = find_kernel_family(family),
          .params = params_bytes(params),
          .operands = {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}}};
}

/// The mean of each channel of one NHWC map.
bool is_over_space(const NodeTypes& types) {
  const Shape& in = types.input(0).shape;
  return in.size() == 4 && in[0] == 1 && types.node.as<Mean>()->axes == std::vector<int64_t>{1, 2};
}

std::optional<std::string> lower_int8(const NodeTypes& types, Lowering& lowering, const MeanNest& nest) {
  const Quant &in = *types.input(0).quant, &out = *types.output().quant;
  const int64_t count = reduced_count(types);
  const AverageScales scales(in, out, count, count);
  auto scale = scales.scale(count);
  if (!scale) return "a mean whose sums do not fit 32 bits has no kernel";
  scale->bias -= static_cast<int32_t>(in.zero_point[0] * count);
  const Range range = {static_cast<int32_t>(out.min), static_cast<int32_t>(out.max)};
  ProgramStep step = mean_step(types, lowering, "mean_s8", MeanParams{nest, *scale, scales.offset(), range});
  const Shape& map = types.input(0).shape;
  if (is_over_space(types))
    step.row_by_row = mean_rows_step(types, lowering, {map[1], map[2], map[3], *scale, scales.offset(), range});
  lowering.emit(step.row_by_row && prefers_mean_rows(lowering) ? in_one_piece(step.row_by_row) : std::move(step));
  return std::nullopt;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const auto nest = nest_of(types);
  if (!nest) return "a mean over three or more separate groups of axes has no kernel";
  if (is_quantized_int8(types.input(0)) && is_quantized_int8(types.output())) return lower_int8(types, lowering, *nest);
  if (types.input(0).dtype != DType::kFloat32) return "the mean of " + to_string(types.input(0)) + " has no kernel";
  lowering.emit(
      mean_step(types, lowering, "mean_f32", MeanF32Params{*nest, 1.0f / static_cast<float>(reduced_count(types))}));
  return std::nullopt;
}

}  // namespace

const OpDef mean_op = {Mean::kName, [] { return Op(Mean{}); }, infer, evaluate, lower, QuantRule::kRescaled};

const HostKernel mean_s8_host = {
    .contract = &mean_s8_contract, .run = mean_s8_scalar, .packing = {}, .stack_bytes = 256};
const HostKernel mean_f32_host = {.contract = &mean_f32_contract, .run = mean_f32_scalar, .packing = {}};

}  // namespace rush
