// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/conv2d_packing.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "ops/conv2d/conv2d.h"
#include "ops/quantization.h"

namespace rush {
namespace {

double weight_scale(const Quant& quant, size_t channel) { return quant.scale.at(quant.per_tensor() ? 0 : channel); }

/// The bias code of a channel; 0 where there is no bias.
int64_t bias_code(const NodeTypes& types, size_t channel) {
  if (!types.has_input(2)) return 0;
  return types.graph[types.node.inputs[2]].data->as<int32_t>()[channel];
}

/// Bias minus zero point times the weights' sum, and the least and largest value of the whole sum.
struct Accumulator {
  int64_t bias = 0;
  int64_t least = 0;
  int64_t largest = 0;

  void add(int64_t weight, int64_t zero_point) {
    bias -= weight * zero_point;
    least += std::min(weight * (-128 - zero_point), weight * (127 - zero_point));
    largest += std::max(weight * (-128 - zero_point), weight * (127 - zero_point));
  }
};

Accumulator accumulator_of(const NodeTypes& types, size_t channel) {
  const HostTensor& weight = *types.graph[types.node.inputs[1]].data;
  const auto terms = static_cast<size_t>(weight.size() / weight.shape()[0]);
  const int64_t bias = bias_code(types, channel);
  Accumulator sum{bias, bias, bias};
  for (size_t i = 0; i < terms; ++i)
    sum.add(weight.as<int8_t>()[channel * terms + i], types.input(0).quant->zero_point[0]);
  return sum;
}

}  // namespace

int64_t canonical_weight(const BlockedWeights& w, size_t i) {
  const size_t inputs = w.segments * w.segment;
  const size_t blocked = w.outputs / w.block * w.block * inputs;
  if (i >= blocked) return static_cast<int64_t>(i);
  const size_t block = i / (w.block * inputs);
  const size_t in_block = i % (w.block * inputs);
  const size_t segment = in_block / (w.block * w.segment);
  const size_t in_segment = in_block % (w.block * w.segment);
  const size_t chunk = in_segment / (w.block * w.chunk);
  const size_t in_chunk = in_segment % (w.block * w.chunk);
  const size_t length = std::min(w.chunk, w.segment - chunk * w.chunk);
  const size_t output = block * w.block + in_chunk / length;
  return static_cast<int64_t>(output * inputs + segment * w.segment + chunk * w.chunk + in_chunk % length);
}

Multiplier with_shift(const Multiplier& exact) {
  const int32_t low_byte = -exact.shift & 0xff;
  const int64_t below = ((exact.multiplier - low_byte) & ~int64_t{0xff}) + low_byte;
  const int64_t above = below + 0x100;
  const bool up =
      below < int64_t{1} << 30 || (above < int64_t{1} << 31 && above - exact.multiplier < exact.multiplier - below);
  return {static_cast<int32_t>(up ? above : below), exact.shift};
}

bool FoldedChannels::left_shift() const {
  return std::ranges::any_of(channels, [](const FoldedChannel& c) { return c.multiplier.shift < 1; });
}

std::optional<std::vector<Multiplier>> channel_multipliers(const NodeTypes& types) {
  const Quant& weight = *types.input(1).quant;
  std::vector<Multiplier> multipliers;
  for (size_t o = 0; o < static_cast<size_t>(types.input(1).shape.at(0)); ++o) {
    const double scale = types.input(0).quant->scale[0] * weight_scale(weight, o) / types.output().quant->scale[0];
    // Any scale below 2^-64 gives 0 whatever the sum; a product of tiny scales may be 0 itself.
    const auto multiplier = std::isfinite(scale) ? quantize_multiplier(std::max(scale, 0x1p-64)) : std::nullopt;
    if (!multiplier) return std::nullopt;
    multipliers.push_back(with_shift(*multiplier));
  }
  return multipliers;
}

namespace {

/// Codes from the zero point of an accumulator; what is beyond 256 leaves 8 bits whatever the zero point.
int32_t steps_of(int64_t acc, const Multiplier& m) {
  return std::clamp(requantize_any(static_cast<int32_t>(acc), m.multiplier, m.shift), -256, 256);
}

/// A channel with large accumulators that all give one code, as channels do that training has switched off: the same
/// code from small ones. Kernels can do more with those. `sum` is the channel's, `code` its bias.
void settle(FoldedChannel& channel, const Accumulator& sum, int64_t code) {
  constexpr int kShift = 12, kLargestTerms = 8000;
  const int32_t steps = steps_of(sum.least, channel.multiplier);
  if (steps != steps_of(sum.largest, channel.multiplier)) return;
  const int64_t terms = std::max(code - sum.least, sum.largest - code);
  if (terms > kLargestTerms) return;
  // acc / 2^(2 + shift) is `steps` and terms / 2^14, which is less than a half.
  const int64_t bias = int64_t{steps} << (2 + kShift);
  channel.bias = static_cast<int32_t>(static_cast<uint32_t>(sum.bias - code + bias));
  channel.multiplier = with_shift({1 << 30, kShift});
  channel.reach = std::abs(bias) + terms;
}

}  // namespace

FoldedChannels fold_channels(const NodeTypes& types) {
  const auto multipliers = channel_multipliers(types);
  if (!multipliers) return {{}, std::string(kScaleTooSmall)};
  FoldedChannels folded;
  for (size_t o = 0; o < multipliers->size(); ++o) {
    const Accumulator sum = accumulator_of(types, o);
    if (sum.least < INT32_MIN || sum.largest > INT32_MAX)
      return {{}, fmt::format("the sum of output channel {} can leave 32 bits, which has no kernel", o)};
    FoldedChannel channel = {static_cast<int32_t>(static_cast<uint32_t>(sum.bias)), (*multipliers)[o],
                             std::max(-sum.least, sum.largest)};
    if (channel.reach >= int64_t{1} << 22) settle(channel, sum, bias_code(types, o));
    folded.channels.push_back(channel);
  }
  return folded;
}

void append_channel_blocks(const FoldedChannels& folded, const ChannelSlice& slice, std::vector<uint8_t>& bytes) {
  for (size_t i = 0; i < slice.count; i += 4) {
    ChannelBlock block{};
    for (size_t lane = 0; lane < std::min<size_t>(4, slice.count - i); ++lane) {
      const FoldedChannel& channel = folded.channels.at(slice.first + (i + lane) * slice.step);
      block.bias[lane] = channel.bias;
      block.scale[lane] = channel.multiplier.multiplier;
    }
    const std::vector<uint8_t> raw = params_bytes(block);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  }
}

OutputCodes output_codes(const TensorType& output, const FoldedChannels& folded, double min, double max) {
  const Range range = code_range(*output.quant, min, max);
  return {static_cast<int8_t>(output.quant->zero_point[0]), static_cast<int8_t>(range.min),
          static_cast<int8_t>(range.max), folded.left_shift()};
}

std::string unfit_types(const NodeTypes& types) {
  const TensorType &x = types.input(0), &weight = types.input(1);
  const std::string what = to_string(x) + " with weight " + to_string(weight);
  if (!is_quantized_int8(x) || !is_quantized_int8(types.output()) || weight.dtype != DType::kInt8 || !weight.quant)
    return what + " has no kernel";
  if (!types.graph[types.node.inputs[1]].is_constant()) return what + " that is computed at run time has no kernel";
  if (weight.quant->axis > 0 || std::ranges::any_of(weight.quant->zero_point, [](int64_t z) { return z != 0; }))
    return what + " that is not symmetric for each output channel has no kernel";
  if (types.has_input(2) && (types.input(2).dtype != DType::kInt32 || !types.graph[types.node.inputs[2]].is_constant()))
    return "a bias that is not a constant int32 has no kernel";
  return {};
}

namespace {

const Conv2dParams& conv2d_of(const void* params) { return *static_cast<const Conv2dParams*>(params); }

size_t window_inputs(const Conv2dParams& p) {
  const ConvSegments segments = conv2d_segments(p);
  return size_t{segments.count} * segments.bytes;
}

size_t weight_count(const void* params) {
  const Conv2dParams& p = conv2d_of(params);
  return p.out_channels * window_inputs(p);
}

int64_t conv2d_weight(Isa isa, const void* params, size_t i) {
  const Conv2dParams& p = conv2d_of(params);
  if (isa == Isa::kMve) {
    const ConvSegments segments = conv2d_segments(p);
    return canonical_weight({p.out_channels, segments.count, segments.bytes, 2, 16}, i);
  }
  return scalar_weight(p.out_channels, window_inputs(p), i);
}

uint8_t conv2d_weight_inverted(Isa isa, const void* params, size_t i) {
  const Conv2dParams& p = conv2d_of(params);
  return isa == Isa::kMve ? 0 : scalar_weight_inverted(p.out_channels, window_inputs(p), i);
}

}  // namespace

const HostKernel conv2d_s8_host = {
    .contract = &conv2d_s8_contract,
    .run = conv2d_s8_scalar,
    .packing = {.operand = 2,
                .packed_count = [](Isa, const void* params) { return weight_count(params); },
                .canonical_count = weight_count,
                .index = conv2d_weight,
                .inverted = conv2d_weight_inverted},
    .scratch_operand = 4,
    .scalar_scratch =
        [](const void* params) {
          Extents extents{};
          return conv2d_s8_contract.extents(params, &extents) ? extents.bytes[4] : 0;
        },
    .stack_bytes = 448,
    .rows_at_once = 1,
    .positions_at_once = kConvPositionsAtOnce};

}  // namespace rush
