// SPDX-License-Identifier: Apache-2.0
#include "ops/depthwise_conv2d/depthwise_conv2d_op.h"

#include <algorithm>
#include <utility>

#include "ops/choose_kernel.h"
#include "ops/conv2d/conv2d_lowering.h"
#include "ops/conv2d/conv2d_op.h"
#include "ops/depthwise_conv2d/depthwise_conv2d.h"
#include "ops/depthwise_conv2d/depthwise_rows.h"
#include "ops/depthwise_conv2d/depthwise_words.h"

namespace rush {
namespace {

const DepthwiseConv2dParams& params_of(const void* params) {
  return *static_cast<const DepthwiseConv2dParams*>(params);
}

size_t taps(const DepthwiseConv2dParams& p) { return size_t{p.geometry.kernel_height} * p.geometry.kernel_width; }

size_t weight_count(const void* params) {
  const DepthwiseConv2dParams& p = params_of(params);
  return taps(p) * p.channels * p.multiplier;
}

/// Canonical [channels][multiplier][taps]; packed [multiplier][blocks of channels][taps][channels of the block].
int64_t canonical_index(Isa isa, const void* params, size_t i) {
  const DepthwiseConv2dParams& p = params_of(params);
  const size_t widest = isa == Isa::kMve ? 8 : 4, plane = taps(p) * p.channels;
  const size_t m = i / plane, in_plane = i % plane;
  const size_t first = in_plane / (widest * taps(p)) * widest;
  const size_t width = std::min<size_t>(widest, p.channels - first);
  const size_t in_block = in_plane - first * taps(p);
  const size_t channel = first + in_block % width, tap = in_block / width;
  return static_cast<int64_t>((channel * p.multiplier + m) * taps(p) + tap);
}

DepthwiseConv2dParams params_for(const NodeTypes& types, const ConvShape& s, const FoldedChannels& folded) {
  const Conv2d& conv = *types.node.as<Conv2d>();
  return {.geometry = conv_geometry(s, 1),
          .channels = static_cast<uint16_t>(s.groups),
          .multiplier = static_cast<uint16_t>(s.group_out),
          .zero_point = static_cast<int8_t>(types.input(0).quant->zero_point[0]),
          .reserved = {},
          .codes = output_codes(types.output(), folded, conv.min, conv.max)};
}

/// Gives the input an address that is a multiple of four.
void align_input(const NodeTypes& types, Lowering& lowering) {
  Program& program = lowering.program();
  for (std::optional<BufferId> at = lowering.buffer(types.node.inputs[0]); at; at = program[*at].view_of)
    program[*at].alignment = std::max(program[*at].alignment, 4u);
}

/// How a layer is computed.
struct Choice {
  ConvShape shape;
  DepthwiseConv2dParams params;
  const KernelFamily* family;
};

/// A map of one row is one of one column too: the same bytes.
bool turns(const ConvShape& s) {
  return s.rows.in == 1 && s.rows.out == 1 && s.rows.kernel == 1 && s.rows.pad == 0 && s.columns.in > 1;
}

/// Whether depthwise_rows_s8 takes the layer.
bool fits_rows(const DepthwiseConv2dParams& p, const FoldedChannels& folded) {
  const ConvGeometry& g = p.geometry;
  const auto is_plain = [](const FoldedChannel& c) { return c.multiplier.shift >= 1 && c.multiplier.shift <= 22; };
  return p.channels >= 4 && g.kernel_height == 3 && g.kernel_width == 3 && g.dilation_height == 1 &&
         g.dilation_width == 1 && g.stride_height == g.stride_width && g.stride_width <= 2 && p.codes.are_all() &&
         std::ranges::all_of(folded.channels, is_plain);
}

/// Patches do 3 to 4 times as many products a cycle as the general kernel, at 16 bytes of weights a channel; compact
/// ones store 9 bytes and build the patch.
Choice choose(const NodeTypes& types, const Lowering& lowering, const FoldedChannels& folded) {
  const Isa isa = lowering.isa();
  const ConvShape s = conv_shape(types);
  if (isa == Isa::kMve && turns(s)) {
    ConvShape turned = s;
    std::swap(turned.rows, turned.columns);
    const DepthwiseConv2dParams params = params_for(types, turned, folded);
    const std::string_view family = patch_family(params);
    if (family == "depthwise_column_s8") return {turned, params, find_kernel_family(family)};
  }
  const DepthwiseConv2dParams params = params_for(types, s, folded);
  if (isa == Isa::kDsp && fits_rows(params, folded)) return {s, params, find_kernel_family("depthwise_rows_s8")};
  if (isa == Isa::kScalar && fits_words(params)) return {s, params, find_kernel_family("depthwise_words_s8")};
  const std::string_view patches = isa == Isa::kMve ? patch_family(params) : "";
  if (patches.empty()) return {s, params, find_kernel_family("depthwise_conv2d_s8")};
  std::vector<KernelCandidate> candidates = {{find_kernel_family(patches), params_bytes(params)}};
  if (patches == "depthwise_patch_s8" && s.rows.kernel == 3 && lowering.opt() == Opt::kSize)
    candidates.push_back({find_kernel_family("depthwise_compact_s8"), params_bytes(params)});
  return {s, params, choose_kernel(lowering, std::move(candidates)).family};
}

}  // namespace

std::optional<std::string> lower_depthwise_conv2d(const NodeTypes& types, Lowering& lowering,
                                                  const FoldedChannels& folded) {
  const auto [s, params, family] = choose(types, lowering, folded);
  const HostTensor& weight = *types.graph[types.node.inputs[1]].data;
  std::vector<uint8_t> channels;
  for (size_t m = 0; m < params.multiplier; ++m)
    append_channel_blocks(folded, {m, params.multiplier, params.channels}, channels);
  const BufferId weights =
      lowering.packed(types.node.name + ".weight", *family, &params, {weight.raw(), weight.bytes()});
  if ((family->host->contract->word_aligned & 1u) != 0) align_input(types, lowering);
  const BufferId blocks = lowering.constant(types.node.name + ".channels", channels, 4);
  BufferId scratch;
  if (family->host->scratch_operand >= 0) {
    Extents extents{};
    internal_check(family->host->contract->extents(&params, &extents), "depthwise: parameters that extents() refuses");
    scratch = lowering.scratch(types.node.name + ".patches", extents.bytes[4], 4);
  }
  for (int64_t n = 0; n < s.batch; ++n) {
    ProgramStep step = image_step(types, lowering, s, {n, 1});
    step.family = family;
    step.params = params_bytes(params);
    step.operands.insert(step.operands.end(), {{weights}, {blocks}});
    if (scratch.valid()) step.operands.push_back({scratch});
    if (family->name == std::string_view("depthwise_compact_s8"))
      step.keeps_field = offsetof(DepthwiseConv2dParams, keeps_weights);
    if (s.rows.out != conv_shape(types).rows.out) step.row_dependencies.clear();  // others see one row
    lowering.emit(std::move(step));
  }
  return std::nullopt;
}

namespace {

const Packing kPacking = {.operand = 2,
                          .packed_count = [](Isa, const void* params) { return weight_count(params); },
                          .canonical_count = weight_count,
                          .index = canonical_index};

}  // namespace

const HostKernel depthwise_conv2d_s8_host = {.contract = &depthwise_conv2d_s8_contract,
                                             .run = depthwise_conv2d_s8_scalar,
                                             .packing = kPacking,
                                             .stack_bytes = 448,
                                             .rows_at_once = 1};
const HostKernel depthwise_words_s8_host = {.contract = &depthwise_words_s8_contract,
                                            .run = depthwise_words_s8_scalar,
                                            .packing = kPacking,
                                            .stack_bytes = 448,
                                            .rows_at_once = 1};

}  // namespace rush
