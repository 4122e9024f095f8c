// SPDX-License-Identifier: Apache-2.0
//
// Constants of a convolution or linear layer as its kernels read them: the order of weights that are blocks of
// outputs, and bias, multiplier and shift of each output channel. Shared by conv2d, depthwise_conv2d and linear.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/conv2d/conv2d_channels.h"
#include "ops/op_def.h"

namespace rush {

/// Why no multiplier represents s_x * s_w / s_y.
inline constexpr std::string_view kScaleTooSmall =
    "the output scale is so small beside input scale x weight scale that it has no kernel";

/// Weights [outputs][segments * segment] in blocks of `block` outputs, what is left over one by one. A block holds its
/// segments one after the other, a segment its chunks of `chunk` inputs (the last as long as the rest), a chunk the
/// inputs of each output.
struct BlockedWeights {
  size_t outputs;
  size_t segments;
  size_t segment;
  size_t block;
  size_t chunk;
};

/// Canonical index of packed weight i.
int64_t canonical_weight(const BlockedWeights& weights, size_t i);

/// The portable variants' order (conv2d_eight_scalar.h): canonical index of packed weight i, and the bits of it that
/// are inverted, which makes w + 128 of w.
int64_t scalar_weight(size_t outputs, size_t inputs, size_t i);
uint8_t scalar_weight_inverted(size_t outputs, size_t inputs, size_t i);

/// The order for two positions at a time (conv2d_two_positions_scalar.cpp) of an even number of outputs, -1 for what an
/// odd number of inputs is made up with; and whether it is exact: no two inputs of a word with weights -128.
int64_t two_positions_weight(size_t inputs, size_t i);
bool two_positions_are_exact(std::span<const int8_t> weights, size_t inputs);

/// An output channel: code = clamp(requantize_any(bias + sum of w * x codes) + zero point).
struct FoldedChannel {
  int32_t bias = 0;
  Multiplier multiplier{};
  int64_t reach = 0;  ///< the largest magnitude of an accumulator
};

struct FoldedChannels {
  std::vector<FoldedChannel> channels;
  std::string why_not;  ///< not empty: they cannot be folded

  bool left_shift() const;  ///< whether some accumulator is shifted left first
};

/// The output channels of a quantized node with inputs x, weight, bias: the input's zero point folded into the bias,
/// and proof that no accumulator leaves int32.
FoldedChannels fold_channels(const NodeTypes& types);

/// The nearest multiplier whose low byte is the negated shift.
Multiplier with_shift(const Multiplier& exact);

/// The multiplier of each output channel, s_x * s_w / s_y, or nothing where one is too large. Its low byte is the
/// negated shift.
std::optional<std::vector<Multiplier>> channel_multipliers(const NodeTypes& types);

/// ChannelBlocks of channels `first`, `first + step`, ..., `count` of them.
struct ChannelSlice {
  size_t first;
  size_t step;
  size_t count;
};
void append_channel_blocks(const FoldedChannels& folded, const ChannelSlice& slice, std::vector<uint8_t>& bytes);

/// Positions of a dense 1x1 convolution that a variant has in hand at once: two or four.
inline constexpr uint16_t kConvPositionsAtOnce = 4;

OutputCodes output_codes(const TensorType& output, const FoldedChannels& folded, double min, double max);

/// Why a quantized node with inputs x, weight, bias has no kernel, whatever its values; empty if it may have one.
std::string unfit_types(const NodeTypes& types);

}  // namespace rush
