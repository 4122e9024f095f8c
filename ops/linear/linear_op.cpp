// SPDX-License-Identifier: Apache-2.0
//
// Linear on the host: types, reference, lowering.
#include "ops/linear/linear_op.h"

#include <algorithm>
#include <cstddef>

#include "ops/choose_kernel.h"
#include "ops/conv2d/conv2d_lowering.h"
#include "ops/conv2d/conv2d_packing.h"
#include "ops/conv2d/conv2d_pairs_packing.h"
#include "ops/conv2d/conv2d_ref.h"
#include "ops/linear/linear.h"
#include "ops/linear/linear_tiles.h"
#include "ops/node_error.h"
#include "ops/quantization.h"

namespace rush {
namespace {

/// out [positions, outputs] = x [positions, features] * weight [outputs, features].
struct LinearShape {
  int64_t positions;
  int64_t features;
  int64_t outputs;
};

LinearShape linear_shape(const NodeTypes& types) {
  const Shape &x = types.input(0).shape, &weight = types.input(1).shape;
  if (x.empty() || weight.size() != 2)
    throw damaged_node(types, "the weight must have two axes, the input at least one");
  if (x.back() != weight[1] || weight[0] < 1 || weight[1] < 1)
    throw damaged_node(types, "the weight's second axis is not the input's last");
  if (types.has_input(2) && types.input(2).shape != Shape{weight[0]})
    throw damaged_node(types, "the bias does not have one value for each output");
  return {element_count(x) / weight[1], weight[1], weight[0]};
}

std::vector<TensorType> infer(const NodeTypes& types) {
  Shape shape = types.input(0).shape;
  const LinearShape sizes = linear_shape(types);
  shape.back() = sizes.outputs;
  return {{types.input(0).dtype, shape, {}}};
}

/// Sets out[n, o] = f(n, o).
template <class T, class F>
HostTensor for_each_output(const NodeTypes& types, F f) {
  const LinearShape s = linear_shape(types);
  HostTensor out(types.output().dtype, types.output().shape);
  for (int64_t i = 0; i < s.positions * s.outputs; ++i) out.as<T>()[i] = f(i / s.outputs, i % s.outputs);
  return out;
}

/// Products rounded, summed in order, the bias last.
HostTensor evaluate_float(const NodeTypes& types, const Tensors& inputs) {
  const Linear& linear = *types.node.as<Linear>();
  const LinearShape s = linear_shape(types);
  return for_each_output<float>(types, [&](int64_t n, int64_t o) {
    const float* x = inputs[0]->as<float>() + n * s.features;
    const float* weight = inputs[1]->as<float>() + o * s.features;
    float sum = 0;
    for (int64_t k = 0; k < s.features; ++k) sum += x[k] * weight[k];
    sum += types.has_input(2) ? inputs[2]->as<float>()[o] : 0.0f;
    return sum < linear.min ? static_cast<float>(linear.min) : sum > linear.max ? static_cast<float>(linear.max) : sum;
  });
}

HostTensor evaluate_int8(const NodeTypes& types, const Tensors& inputs) {
  const Linear& linear = *types.node.as<Linear>();
  const LinearShape s = linear_shape(types);
  const std::vector<Multiplier> multipliers = required_multipliers(types);
  const Range range = code_range(*types.output().quant, linear.min, linear.max);
  const int64_t zero_point = types.input(0).quant->zero_point[0];
  return for_each_output<int8_t>(types, [&](int64_t n, int64_t o) {
    const int8_t* x = inputs[0]->as<int8_t>() + n * s.features;
    const int8_t* weight = inputs[1]->as<int8_t>() + o * s.features;
    int64_t sum = types.has_input(2) ? inputs[2]->as<int32_t>()[o] : 0;
    for (int64_t k = 0; k < s.features; ++k) sum += (x[k] - zero_point) * weight[k];
    return code_of_sum(sum, multipliers[static_cast<size_t>(o)], *types.output().quant, range);
  });
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  return {types.output().dtype == DType::kFloat32 ? evaluate_float(types, inputs) : evaluate_int8(types, inputs)};
}

std::optional<std::string> unfit_sizes(const NodeTypes& types) {
  const LinearShape s = linear_shape(types);
  if (s.positions < 1 << 16 && s.features < 1 << 26 && s.outputs < 1 << 26) return std::nullopt;
  return "a linear layer of " + to_string(types.input(0)) + " is too large for its kernels";
}

/// Parameters but for codes and range; rows of elements of `element_bytes`.
template <class Params>
Params linear_params(const NodeTypes& types, uint32_t element_bytes) {
  const LinearShape s = linear_shape(types);
  const ElementwiseRows walk = elementwise_rows(types.input(0).shape);
  const auto positions = static_cast<uint32_t>(s.positions / walk.rows);
  Params params{};
  params.in = whole_map(positions * static_cast<uint32_t>(s.features) * element_bytes, walk.rows);
  params.out = whole_map(positions * static_cast<uint32_t>(s.outputs) * element_bytes, walk.rows);
  params.rows = walk.rows;
  params.positions = static_cast<uint16_t>(positions);
  params.in_features = static_cast<uint32_t>(s.features);
  params.out_features = static_cast<uint32_t>(s.outputs);
  return params;
}

/// A step without its constants.
template <class Params>
ProgramStep linear_step(const NodeTypes& types, Lowering& lowering, const Params& params) {
  const LinearShape s = linear_shape(types);
  ProgramStep step;
  step.params = params_bytes(params);
  step.operands = {{lowering.buffer(types.node.inputs[0])}, {lowering.buffer(types.node.out())}};
  step.rows = params.rows;
  step.row_dependencies = {{.operand = 0, .stride = 1, .lead = 0, .span = 1}};
  step.rows_field = {offsetof(Params, in), offsetof(Params, out)};
  step.positions = {params.positions, params.in.row_bytes / params.positions, params.out.row_bytes / params.positions};
  step.macs = static_cast<uint64_t>(s.positions * s.features * s.outputs);
  return step;
}

std::optional<std::string> lower_float(const NodeTypes& types, Lowering& lowering) {
  const Linear& linear = *types.node.as<Linear>();
  auto params = linear_params<LinearF32Params>(types, 4);
  params.min = static_cast<float>(linear.min);
  params.max = static_cast<float>(linear.max);
  const BufferId bias = types.has_input(2) ? lowering.buffer(types.node.inputs[2])
                                           : lowering.constant(types.node.name + ".bias",
                                                               std::vector<uint8_t>(params.out_features * 4), 4);
  ProgramStep step = linear_step(types, lowering, params);
  step.family = find_kernel_family("linear_f32");
  step.operands.insert(step.operands.end(), {{lowering.buffer(types.node.inputs[1])}, {bias}});
  lowering.emit(std::move(step));
  return std::nullopt;
}

/// A layer as its 1x1 convolution.
Conv2dParams convolution_params(const LinearParams& p, int8_t in_zero_point) {
  Conv2dParams conv = pointwise_params(
      {p.rows, p.positions, static_cast<uint16_t>(p.in_features), static_cast<uint16_t>(p.out_features)});
  conv.zero_point = in_zero_point;
  conv.codes = p.codes;
  return conv;
}

/// Whether the convolution's parameters can hold the layer.
bool fits_convolution(const LinearParams& p) {
  constexpr uint32_t kMost = 1 << 14;
  return p.in_features < kMost && p.out_features < kMost && p.rows < kMost;
}

/// The layer's kernel of eight outputs at a time: with one scale if its outputs share one.
KernelCandidate tiles_candidate(const LinearParams& p, const FoldedChannels& folded) {
  const int32_t scale = folded.channels.front().multiplier.multiplier;
  const bool shared = std::ranges::all_of(
      folded.channels, [&](const FoldedChannel& channel) { return channel.multiplier.multiplier == scale; });
  if (!shared) return {find_kernel_family("linear_tiles_s8"), params_bytes(p)};
  return {find_kernel_family("linear_one_scale_s8"), params_bytes(LinearOneScaleParams{p, scale})};
}

/// All kernels that can compute the layer. The tiles of Helium shift no accumulator left; where they can take it,
/// linear_s8 is a third as fast.
std::vector<KernelCandidate> candidates_for(const NodeTypes& types, Isa isa, const LinearParams& p,
                                            const FoldedChannels& folded) {
  constexpr uint32_t kMostPaired = 1 << 13;  // pairs take scratch
  const auto zero_point = static_cast<int8_t>(types.input(0).quant->zero_point[0]);
  if (isa == Isa::kDsp && p.in_features <= kMostPaired && p.out_features <= UINT16_MAX)
    return {
        {find_kernel_family("conv2d_pairs_s8"), params_bytes(pairs_params(convolution_params(p, zero_point), folded))}};
  if (isa != Isa::kMve || p.codes.left_shift != 0) return {{find_kernel_family("linear_s8"), params_bytes(p)}};
  std::vector<KernelCandidate> all = {tiles_candidate(p, folded)};
  if (fits_convolution(p))
    all.push_back({find_kernel_family("conv2d_tiles_s8"), params_bytes(convolution_params(p, zero_point))});
  return all;
}

std::vector<uint8_t> channel_bytes(const FoldedChannels& folded) {
  std::vector<uint8_t> bytes;
  append_channel_blocks(folded, {0, 1, folded.channels.size()}, bytes);
  return bytes;
}

std::vector<uint8_t> biases(const FoldedChannels& folded) {
  std::vector<uint8_t> bytes;
  for (const FoldedChannel& channel : folded.channels) {
    const std::vector<uint8_t> raw = params_bytes(channel.bias);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
  return bytes;
}

std::optional<std::string> lower_int8(const NodeTypes& types, Lowering& lowering) {
  if (std::string why = unfit_types(types); !why.empty()) return why;
  const FoldedChannels folded = fold_channels(types);
  if (!folded.why_not.empty()) return folded.why_not;
  const Linear& linear = *types.node.as<Linear>();
  auto params = linear_params<LinearParams>(types, 1);
  params.codes = output_codes(types.output(), folded, linear.min, linear.max);
  const KernelCandidate kernel = choose_kernel(lowering, candidates_for(types, lowering.isa(), params, folded));
  ProgramStep step = linear_step(types, lowering, params);
  step.family = kernel.family;
  step.params = kernel.params;
  const KernelContract& contract = *step.family->host->contract;
  Extents extents{};
  internal_check(contract.extents(step.params.data(), &extents), "linear: parameters that extents() refuses");
  std::vector<uint8_t> channels = kernel.family->name == "linear_one_scale_s8" ? biases(folded) : channel_bytes(folded);
  channels.resize(extents.bytes[3]);
  const HostTensor& weight = *types.graph[types.node.inputs[1]].data;
  const BufferId weights =
      lowering.packed(types.node.name + ".weight", *step.family, step.params.data(), {weight.raw(), weight.bytes()});
  step.operands.insert(step.operands.end(),
                       {{weights}, {lowering.constant(types.node.name + ".channels", channels, 4)}});
  if (contract.operand_count > 4)
    step.operands.push_back({lowering.scratch(types.node.name + ".scratch", extents.bytes[4], 4)});
  if (kernel.family->op == "conv2d") step.rows_field = {offsetof(ConvGeometry, in), offsetof(ConvGeometry, out)};
  lowering.emit(std::move(step));
  return std::nullopt;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (auto why = unfit_sizes(types)) return why;
  const bool is_float = types.input(0).dtype == DType::kFloat32 && types.input(1).dtype == DType::kFloat32;
  return is_float ? lower_float(types, lowering) : lower_int8(types, lowering);
}

BlockedWeights blocked_weights(Isa isa, const void* params) {
  const LinearParams& p = *static_cast<const LinearParams*>(params);
  constexpr size_t kChunk[] = {1, 4, 16};
  return {p.out_features, 1, p.in_features, 4, kChunk[static_cast<size_t>(isa)]};
}

size_t weight_count(const void* params) {
  const LinearParams& p = *static_cast<const LinearParams*>(params);
  return size_t{p.in_features} * p.out_features;
}

}  // namespace

const OpDef linear_op = {Linear::kName, [] { return Op(Linear{}); }, infer, evaluate,
                         lower,         QuantRule::kWeighted,        true};

const HostKernel linear_s8_host = {
    .contract = &linear_s8_contract,
    .run = linear_s8_scalar,
    .packing = {.operand = 2,
                .packed_count = [](Isa, const void* params) { return weight_count(params); },
                .canonical_count = weight_count,
                .index =
                    [](Isa isa, const void* params, size_t i) {
                      const BlockedWeights w = blocked_weights(isa, params);
                      return isa == Isa::kScalar ? scalar_weight(w.outputs, w.segment, i) : canonical_weight(w, i);
                    },
                .inverted =
                    [](Isa isa, const void* params, size_t i) {
                      const BlockedWeights w = blocked_weights(isa, params);
                      return isa == Isa::kScalar ? scalar_weight_inverted(w.outputs, w.segment, i) : uint8_t{0};
                    }},
    .stack_bytes = 320};
const HostKernel linear_f32_host = {
    .contract = &linear_f32_contract, .run = linear_f32_scalar, .packing = {}, .stack_bytes = 256};

}  // namespace rush
