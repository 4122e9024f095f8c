// SPDX-License-Identifier: Apache-2.0
//
// Convolution on the host: types and lowering. A batch takes one step for each image, groups one for each group (but
// depthwise ones: depthwise_conv2d).
#include "ops/conv2d/conv2d_op.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "ops/choose_kernel.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/conv2d_lowering.h"
#include "ops/conv2d/conv2d_packing.h"
#include "ops/conv2d/conv2d_pairs_packing.h"
#include "ops/conv2d/conv2d_ref.h"
#include "ops/conv2d/conv2d_tiles.h"
#include "ops/depthwise_conv2d/depthwise_conv2d_op.h"

namespace rush {
std::optional<std::string> unfit_sizes(const ConvShape& s) {
  constexpr int64_t kMost = (1 << 16) - 1, kMostFloats = kMost / 4;
  const auto fits = [](const ConvAxis& a) {
    // A window's last position is an int32, far from its ends.
    return std::max({a.in, a.out, a.kernel, a.stride, a.dilation, a.pad}) <= kMost &&
           std::max(a.out * a.stride, a.kernel * a.dilation) < 1 << 29;
  };
  if (fits(s.rows) && fits(s.columns) && std::max(s.in_channels(), s.out_channels()) <= kMostFloats &&
      s.rows.kernel * s.columns.kernel <= kMostFloats)
    return std::nullopt;
  return fmt::format("a convolution of {}x{} maps, {} to {} channels, kernel {}x{} is too large for its kernels",
                     s.rows.in, s.columns.in, s.in_channels(), s.out_channels(), s.rows.kernel, s.columns.kernel);
}

ConvGeometry conv_geometry(const ConvShape& s, uint32_t element_bytes) {
  const auto small = [](int64_t value) { return static_cast<uint16_t>(value); };
  const auto row_bytes = [&](const int64_t pixels) { return static_cast<uint32_t>(pixels) * element_bytes; };
  return {.in = whole_map(row_bytes(s.columns.in * s.in_channels()), static_cast<uint32_t>(s.rows.in)),
          .out = whole_map(row_bytes(s.columns.out * s.out_channels()), static_cast<uint32_t>(s.rows.out)),
          .in_height = small(s.rows.in),
          .in_width = small(s.columns.in),
          .out_height = small(s.rows.out),
          .out_width = small(s.columns.out),
          .kernel_height = small(s.rows.kernel),
          .kernel_width = small(s.columns.kernel),
          .stride_height = small(s.rows.stride),
          .stride_width = small(s.columns.stride),
          .dilation_height = small(s.rows.kernel == 1 ? 1 : s.rows.dilation),
          .dilation_width = small(s.columns.kernel == 1 ? 1 : s.columns.dilation),
          .pad_top = small(s.rows.pad),
          .pad_left = small(s.columns.pad)};
}

Conv2dParams pointwise_params(const PointwiseShape& shape) {
  Conv2dParams params{};
  ConvGeometry& g = params.geometry;
  g.in = whole_map(uint32_t{shape.positions} * shape.in_channels, shape.rows);
  g.out = whole_map(uint32_t{shape.positions} * shape.out_channels, shape.rows);
  g.in_height = g.out_height = shape.rows;
  g.in_width = g.out_width = shape.positions;
  g.kernel_height = g.kernel_width = g.stride_height = g.stride_width = g.dilation_height = g.dilation_width = 1;
  params.in_pixel = params.in_channels = shape.in_channels;
  params.out_pixel = params.out_channels = shape.out_channels;
  return params;
}

namespace {

/// Whether output pixels follow input pixels one by one.
bool is_pointwise(const ConvShape& s) {
  const auto is_one = [](const ConvAxis& a) { return a.kernel == 1 && a.stride == 1 && a.pad == 0 && a.in == a.out; };
  return is_one(s.rows) && is_one(s.columns);
}

}  // namespace

ProgramStep image_step(const NodeTypes& types, Lowering& lowering, const ConvShape& s, const BatchImage& image) {
  const int64_t in_image = s.rows.in * s.columns.in * s.in_channels() * image.element_bytes;
  const int64_t out_image = s.rows.out * s.columns.out * s.out_channels() * image.element_bytes;
  const auto span = static_cast<int>((s.rows.kernel - 1) * s.rows.dilation + 1);
  ProgramStep step;
  step.operands = {{lowering.buffer(types.node.inputs[0]), static_cast<uint32_t>(image.n * in_image)},
                   {lowering.buffer(types.node.out()), static_cast<uint32_t>(image.n * out_image)}};
  step.rows = static_cast<uint16_t>(s.rows.out);
  step.macs = static_cast<uint64_t>(s.rows.out * s.columns.out * s.out_channels() * s.window());
  step.rows_field = {offsetof(ConvGeometry, in), offsetof(ConvGeometry, out)};
  if (is_pointwise(s))
    step.positions = {static_cast<uint32_t>(s.columns.in), static_cast<uint32_t>(s.in_channels()) * image.element_bytes,
                      static_cast<uint32_t>(s.out_channels()) * image.element_bytes};
  if (s.batch == 1)
    step.row_dependencies = {{.operand = 0,
                              .stride = static_cast<int>(s.rows.stride),
                              .lead = span - static_cast<int>(s.rows.pad + s.rows.stride),
                              .span = span}};
  return step;
}

namespace {

std::vector<TensorType> infer(const NodeTypes& types) {
  const ConvShape s = conv_shape(types);
  const bool is_nhwc = types.node.as<Conv2d>()->layout == "nhwc";
  const Shape shape = is_nhwc ? Shape{s.batch, s.rows.out, s.columns.out, s.out_channels()}
                              : Shape{s.batch, s.out_channels(), s.rows.out, s.columns.out};
  return {{types.input(0).dtype, shape, {}}};
}

/// Windows read where they lie.
Conv2dParams conv2d_params(const NodeTypes& types, const FoldedChannels& folded) {
  const Conv2d& conv = *types.node.as<Conv2d>();
  const ConvShape s = conv_shape(types);
  return {.geometry = conv_geometry(s, 1),
          .in_pixel = static_cast<uint16_t>(s.in_channels()),
          .out_pixel = static_cast<uint16_t>(s.out_channels()),
          .in_channels = static_cast<uint16_t>(s.group_in),
          .out_channels = static_cast<uint16_t>(s.group_out),
          .zero_point = static_cast<int8_t>(types.input(0).quant->zero_point[0]),
          .gather = 0,
          .codes = output_codes(types.output(), folded, conv.min, conv.max),
          .reserved = 0};
}

/// Whether a window's rows may be read where they lie: neighbouring pixels with all their channels.
bool has_whole_rows(const ConvShape& s) { return s.columns.kernel == 1 || (s.columns.dilation == 1 && s.groups == 1); }

/// The tiles of Helium shift no accumulator left, and hold all rows between those of a window. They read a window as a
/// whole where it is one row of the map, row by row, or gathered.
void add_tiles(const ConvShape& s, const Conv2dParams& p, std::vector<KernelCandidate>& to) {
  constexpr int64_t kMostRows = 1 << 14;
  const int64_t spread = s.rows.dilation > 1 ? (s.rows.kernel - 1) * s.rows.dilation * s.columns.in * s.group_in : 0;
  if (p.codes.left_shift != 0 || s.window() > kTileLongestWindow || spread > kMostRows) return;
  const bool dilated = p.geometry.dilation_height > 1 || p.geometry.dilation_width > 1;
  Conv2dParams gathered = p;
  gathered.gather = 1;
  if (!dilated && s.rows.kernel == 1) to.push_back({find_kernel_family("conv2d_tiles_s8"), params_bytes(p)});
  if (!dilated && s.groups == 1 && has_tile_rows(conv2d_segments(p)))
    to.push_back({find_kernel_family("conv2d_rows_s8"), params_bytes(p)});
  to.push_back({find_kernel_family("conv2d_tiles_s8"), params_bytes(gathered)});
}

/// Two positions at a time, where their products are exact.
void add_two_positions(const NodeTypes& types, const ConvShape& s, const Conv2dParams& p,
                       std::vector<KernelCandidate>& to) {
  const HostTensor& weight = *types.graph[types.node.inputs[1]].data;
  const std::span<const int8_t> codes{weight.as<int8_t>(), static_cast<size_t>(weight.size())};
  if (s.rows.out * s.columns.out > 1 && s.group_out % 8 == 0 &&
      two_positions_are_exact(codes, static_cast<size_t>(s.window())))
    to.push_back({find_kernel_family("conv2d_two_positions_s8"), params_bytes(p)});
}

/// All kernels that can compute a group of the layer.
std::vector<KernelCandidate> candidates_for(const NodeTypes& types, Isa isa, const FoldedChannels& folded) {
  const ConvShape s = conv_shape(types);
  Conv2dParams p = conv2d_params(types, folded);
  std::vector<KernelCandidate> all;
  if (isa == Isa::kDsp) {
    p.gather = has_whole_rows(s) ? 0 : 1;  // only the host looks at it
    return {{find_kernel_family("conv2d_pairs_s8"), params_bytes(pairs_params(p, folded))}};
  }
  if (isa == Isa::kMve) add_tiles(s, p, all);
  if (isa == Isa::kScalar) add_two_positions(types, s, p, all);
  if (isa == Isa::kMve && !all.empty()) return all;  // conv2d_s8 is a fifth as fast there
  const KernelFamily* plain = find_kernel_family("conv2d_s8");
  if (has_whole_rows(s)) all.push_back({plain, params_bytes(p)});
  p.gather = 1;
  all.push_back({plain, params_bytes(p)});
  return all;
}

/// Weights and channels of one group.
struct GroupOperands {
  BufferId weights;
  BufferId channels;
};

std::vector<GroupOperands> pack_groups(const NodeTypes& types, Lowering& lowering, const KernelCandidate& call,
                                       const FoldedChannels& folded) {
  const ConvShape s = conv_shape(types);
  const HostTensor& weight = *types.graph[types.node.inputs[1]].data;
  const auto group_bytes = static_cast<size_t>(s.group_out * s.window()), outputs = static_cast<size_t>(s.group_out);
  std::vector<GroupOperands> groups;
  for (size_t g = 0; g < static_cast<size_t>(s.groups); ++g) {
    std::vector<uint8_t> channels;
    append_channel_blocks(folded, {g * outputs, 1, outputs}, channels);
    groups.push_back({lowering.packed(types.node.name + ".weight", *call.family, call.params.data(),
                                      {weight.raw() + g * group_bytes, group_bytes}),
                      lowering.constant(types.node.name + ".channels", channels, 4)});
  }
  return groups;
}

std::optional<std::string> lower_int8(const NodeTypes& types, Lowering& lowering) {
  if (std::string why = unfit_types(types); !why.empty()) return why;
  const ConvShape s = conv_shape(types);
  if (auto why = unfit_sizes(s)) return why;
  const FoldedChannels folded = fold_channels(types);
  if (!folded.why_not.empty()) return folded.why_not;
  if (s.groups > 1 && s.group_in == 1) return lower_depthwise_conv2d(types, lowering, folded);
  const KernelCandidate call = choose_kernel(lowering, candidates_for(types, lowering.isa(), folded));
  const std::vector<GroupOperands> groups = pack_groups(types, lowering, call, folded);
  Extents extents{};
  internal_check(call.family->host->contract->extents(call.params.data(), &extents),
                 "conv2d: parameters that extents() refuses");
  const BufferId scratch = lowering.scratch(types.node.name + ".window", extents.bytes[4], 4);
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t g = 0; g < s.groups; ++g) {
      ProgramStep step = image_step(types, lowering, s, {n, 1});
      step.family = call.family;
      step.params = call.params;
      step.operands[0].offset += static_cast<uint32_t>(g * s.group_in);
      step.operands[1].offset += static_cast<uint32_t>(g * s.group_out);
      const GroupOperands& group = groups[static_cast<size_t>(g)];
      step.operands.insert(step.operands.end(), {{group.weights}, {group.channels}, {scratch}});
      step.macs /= static_cast<uint64_t>(s.groups);
      if (s.groups > 1) step.row_dependencies.clear();
      lowering.emit(std::move(step));
    }
  }
  return std::nullopt;
}

BufferId float_bias(const NodeTypes& types, Lowering& lowering, const ConvShape& s) {
  if (types.has_input(2)) return lowering.buffer(types.node.inputs[2]);
  return lowering.constant(types.node.name + ".bias", std::vector<uint8_t>(static_cast<size_t>(s.out_channels()) * 4),
                           4);
}

std::optional<std::string> lower_float(const NodeTypes& types, Lowering& lowering) {
  const Conv2d& conv = *types.node.as<Conv2d>();
  const ConvShape s = conv_shape(types);
  if (auto why = unfit_sizes(s)) return why;
  const Conv2dF32Params params = {.geometry = conv_geometry(s, 4),
                                  .groups = static_cast<uint16_t>(s.groups),
                                  .group_in = static_cast<uint16_t>(s.group_in),
                                  .group_out = static_cast<uint16_t>(s.group_out),
                                  .reserved = 0,
                                  .min = static_cast<float>(conv.min),
                                  .max = static_cast<float>(conv.max)};
  for (int64_t n = 0; n < s.batch; ++n) {
    ProgramStep step = image_step(types, lowering, s, {n, 4});
    step.family = find_kernel_family("conv2d_f32");
    step.params = params_bytes(params);
    step.operands.insert(step.operands.end(),
                         {{lowering.buffer(types.node.inputs[1])}, {float_bias(types, lowering, s)}});
    lowering.emit(std::move(step));
  }
  return std::nullopt;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const Conv2d& conv = *types.node.as<Conv2d>();
  if (conv.layout != "nhwc") return "a convolution in layout " + conv.layout + " has no kernel";
  if (types.input(0).dtype == DType::kFloat32 && types.input(1).dtype == DType::kFloat32)
    return lower_float(types, lowering);
  return lower_int8(types, lowering);
}

}  // namespace

const OpDef conv2d_op = {Conv2d::kName, [] { return Op(Conv2d{}); }, infer, evaluate_conv2d,
                         lower,         QuantRule::kWeighted,        true};

const HostKernel conv2d_f32_host = {
    .contract = &conv2d_f32_contract, .run = conv2d_f32_scalar, .packing = {}, .stack_bytes = 320};

}  // namespace rush
