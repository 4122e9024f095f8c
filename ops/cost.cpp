// SPDX-License-Identifier: Apache-2.0
#include "ops/cost.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

#include "ops/add/add.h"
#include "ops/avg_pool2d/avg_pool2d.h"
#include "ops/clamp/clamp.h"
#include "ops/conv2d/conv2d.h"
#include "ops/conv2d/conv2d_pairs.h"
#include "ops/conv2d/conv2d_tiles.h"
#include "ops/depthwise_conv2d/depthwise_patch.h"
#include "ops/dequantize/dequantize.h"
#include "ops/identity/copy.h"
#include "ops/linear/linear.h"
#include "ops/max_pool2d/max_pool2d.h"
#include "ops/mean/mean.h"
#include "ops/op_def.h"
#include "ops/pad/pad.h"
#include "ops/permute/permute.h"
#include "ops/quantize/quantize.h"
#include "ops/rescale/rescale.h"
#include "ops/softmax/softmax.h"

namespace rush {
namespace {

template <class Params>
const Params& as(const void* params) {
  return *static_cast<const Params*>(params);
}

KernelWork work_of(std::initializer_list<double> terms) {
  KernelWork work{1};
  std::ranges::copy(terms, work.begin() + 1);
  return work;
}

double ceil_div(double a, double b) {
  return static_cast<double>((static_cast<int64_t>(a) + static_cast<int64_t>(b) - 1) / static_cast<int64_t>(b));
}

/// int8 elements that a core handles at once.
double lanes(Isa isa) { return isa == Isa::kMve ? 16 : isa == Isa::kDsp ? 4 : 1; }

/// Output positions along an axis whose windows reach beyond the map.
double border_positions(const ConvGeometry& g, bool rows) {
  const int64_t in = rows ? g.in_height : g.in_width, out = rows ? g.out_height : g.out_width;
  const int64_t stride = rows ? g.stride_height : g.stride_width, pad = rows ? g.pad_top : g.pad_left;
  const int64_t reach = rows ? (g.kernel_height - 1) * g.dilation_height : (g.kernel_width - 1) * g.dilation_width;
  int64_t border = 0;
  for (int64_t i = 0; i < out; ++i) {
    const int64_t first = i * stride - pad;
    if (first < 0 || first + reach >= in) ++border;
  }
  return static_cast<double>(border);
}

/// Windows that are not read where they lie.
double border_windows(const ConvGeometry& g) {
  const double rows = border_positions(g, true), columns = border_positions(g, false);
  return rows * g.out_width + (g.out_height - rows) * columns;
}

/// Rows; positions; blocks of four outputs; segments of blocks; vectors of products; bytes gathered.
KernelWork conv2d_work(Isa isa, const void* params) {
  const auto& p = as<Conv2dParams>(params);
  const ConvGeometry& g = p.geometry;
  const ConvSegments segments = conv2d_segments(p);
  const double positions = static_cast<double>(g.out_height) * g.out_width;
  const double blocks = positions * channel_blocks(p.out_channels);
  const double gathered = p.gather != 0 ? positions : border_windows(g);
  return work_of({static_cast<double>(g.out_height), positions, blocks, blocks * segments.count,
                  blocks * segments.count * ceil_div(segments.bytes, lanes(isa)),
                  gathered * segments.count * segments.bytes});
}

/// The portable kernel takes outputs in eights, then the rest one way or another. Rows; positions; eights; their
/// products; other outputs; their products; bytes gathered.
KernelWork conv2d_eights_work(const void* params) {
  const auto& p = as<Conv2dParams>(params);
  const ConvGeometry& g = p.geometry;
  const double positions = static_cast<double>(g.out_height) * g.out_width;
  const double eights = positions * (p.out_channels / 8), others = positions * (p.out_channels % 8);
  const double window = static_cast<double>(g.kernel_height) * g.kernel_width * p.in_channels;
  const double gathered = p.gather != 0 ? positions : border_windows(g);
  return work_of({static_cast<double>(g.out_height), positions, eights, eights * window, others, others * window,
                  gathered * window});
}

/// So many rows, band by band.
struct Bands {
  int rows;
  int band;

  int count() const { return (rows + band - 1) / band; }
  /// The sum of f(rows of a band) over all bands.
  template <class F>
  double sum(const F& f) const {
    const int last = rows - (count() - 1) * band;
    return (count() - 1) * f(band) + f(last);
  }
};

/// Two positions at a time. Rows; pairs of positions; inputs made words; eights of outputs; their products; rows of
/// windows on the border.
KernelWork conv2d_two_positions_work(const void* params, const Bands& bands) {
  const auto& p = as<Conv2dParams>(params);
  const ConvGeometry& g = p.geometry;
  const double pairs = bands.sum([&](int rows) { return ceil_div(rows * g.out_width, 2); });
  const double eights = pairs * (p.out_channels / 8);
  const double window = static_cast<double>(g.kernel_height) * g.kernel_width * p.in_channels;
  return work_of({static_cast<double>(g.out_height), pairs, pairs * window, pairs * g.kernel_height, eights,
                  eights * window, border_windows(g) * g.kernel_height});
}

/// A convolution's walk: its rows, and tiles of so many of their positions. All positions of a band are one row where
/// the maps are as one.
struct ConvWalk {
  double rows;
  double tiles;
};
ConvWalk conv_walk(const Conv2dParams& p, const Bands& bands, int at_once) {
  const ConvGeometry& g = p.geometry;
  const bool pointwise = g.kernel_height * g.kernel_width * g.stride_height * g.stride_width == 1;
  if (pointwise && g.pad_top + g.pad_left + p.gather == 0)
    return {static_cast<double>(bands.count()),
            bands.sum([&](int rows) { return ceil_div(rows * g.out_width, at_once); })};
  // Each band reads rows of its first window again that the band before it has read.
  const double again = std::max(0, (g.kernel_height - 1) * g.dilation_height + 1 - g.stride_height);
  const double rows = g.out_height + (bands.count() - 1) * again / g.stride_height / 2;
  return {rows, g.out_height * ceil_div(g.out_width, at_once)};
}

/// Tiles of one or four positions; segments of windows; pairs of inputs that are unpacked; fours of outputs; pairs of
/// products of four outputs, where a tile has four positions, where it has one and outputs share weights, and where
/// they do not.
KernelWork conv2d_pairs_work(const void* params, const Bands& bands) {
  const auto& p = as<Conv2dPairsParams>(params);
  const ConvGeometry& g = p.conv.geometry;
  const PairsLayout layout = pairs_layout(p);
  const int at_once = p.positions == 1 ? 1 : 4;
  const double tiles = conv_walk(p.conv, bands, at_once).tiles;
  const double windows = static_cast<double>(g.out_height) * g.out_width, pairs = layout.pairs;
  const double blocks = tiles * channel_blocks(p.conv.out_channels), products = blocks * pairs;
  const bool alone = at_once == 1, shared = p.shared != 0;
  return work_of({tiles, windows * layout.segments.count, windows * pairs, blocks * at_once, alone ? 0 : products,
                  alone && shared ? products : 0, alone && !shared ? products : 0});
}

/// Rows; pairs of positions; blocks of four outputs; their segments; chunks of products; rows gathered; chunks
/// gathered; blocks that end a run of positions.
KernelWork conv2d_tiles_work(const void* params, const Bands& bands) {
  const auto& p = as<Conv2dParams>(params);
  const ConvGeometry& g = p.geometry;
  const ConvWalk walk = conv_walk(p, bands, 2);
  const ConvSegments segments = conv2d_segments(p);
  const double pairs = walk.tiles, blocks = pairs * channel_blocks(p.out_channels);
  const double windows = p.gather != 0 ? static_cast<double>(g.out_height) * g.out_width : border_windows(g);
  const double row_bytes = static_cast<double>(g.kernel_width) * p.in_channels;
  // Gathered windows of several rows make one run, if they are small.
  const uint32_t most = tile_windows(static_cast<uint32_t>(g.kernel_height * row_bytes));
  const double runs =
      p.gather == 0 ? walk.rows : bands.sum([&](int rows) { return ceil_div(rows * g.out_width, most); });
  return work_of({walk.rows, pairs, blocks, blocks * segments.count,
                  blocks * segments.count * ceil_div(segments.bytes, 16), windows * g.kernel_height,
                  windows * g.kernel_height * ceil_div(row_bytes, 16), runs * channel_blocks(p.out_channels)});
}

/// Rows; positions; blocks of channels; taps of blocks; taps of blocks on the border.
KernelWork depthwise_work(Isa isa, const void* params) {
  const auto& p = as<DepthwiseConv2dParams>(params);
  const ConvGeometry& g = p.geometry;
  const double positions = static_cast<double>(g.out_height) * g.out_width;
  const double channels = p.multiplier * ceil_div(p.channels, isa == Isa::kMve ? 8 : lanes(isa));
  const double taps = static_cast<double>(g.kernel_height) * g.kernel_width;
  return work_of({static_cast<double>(g.out_height), positions, positions * channels, positions * channels * taps,
                  border_windows(g) * channels, border_windows(g) * channels * taps});
}

/// Passes over all channels; strips of four channels; fours of columns that are interleaved; patches of two outputs, of
/// one; channels whose weights are spread.
KernelWork depthwise_patch_work(const void* params, const Bands& bands) {
  const auto& p = as<DepthwiseConv2dParams>(params);
  const ConvGeometry& g = p.geometry;
  const double pairs = g.stride_height == 1 ? bands.sum([](int rows) { return rows / 2; }) : 0;
  const double singles = g.out_height - 2 * pairs;
  const double groups = p.channels / 4, strips = (pairs + singles) * groups, patches = g.out_width;
  return work_of({pairs + singles, strips, strips * ceil_div(patch_columns(g, g.out_width), 4),
                  pairs * groups * patches, singles * groups * patches,
                  (p.keeps_weights != 0 ? 1 : bands.count()) * 4 * groups});
}

/// A column's rows in patches of sixteen, which hold one or two outputs four rows apart, in two phases. Phases and
/// calls of them; strips of four channels; fours of columns that are interleaved; patches of two outputs, of one; rows
/// of four channels that are copied, where the map has a border.
KernelWork depthwise_column_work(const void* params, const Bands& bands) {
  const auto& p = as<DepthwiseConv2dParams>(params);
  const ConvGeometry& g = p.geometry;
  const int reach = std::min((g.kernel_height + 4) / 4, 4);
  KernelWork work = work_of({});
  const double groups = p.channels / 4;
  const bool copied = g.pad_top != 0 || g.in.reciprocal != 0;
  const auto add_band = [&](int rows, double times) {
    double phases = 0, fours = 0, pairs = 0, singles = 0;
    for (const int left : {rows, rows - 2}) {
      const int patches = left > 1 ? (left + 2) / 4 : 0, last = left - 4 * patches == 1 ? 1 : 0;
      for (const int count : {patches, last}) {
        if (count == 0) continue;
        ++phases;
        fours += ceil_div(count - 1 + reach, 4);
      }
      pairs += patches;
      singles += last;
    }
    const double terms[] = {
        copied ? phases * groups : phases, phases * groups, fours * groups, pairs * groups, singles * groups,
        copied ? groups * (rows + 15) : 0};
    for (size_t i = 0; i < std::size(terms); ++i) work[i + 1] += times * terms[i];
  };
  add_band(bands.band, bands.count() - 1);
  add_band(bands.rows - (bands.count() - 1) * bands.band, 1);
  return work;
}

/// Positions; blocks of four outputs; vectors of products.
KernelWork linear_work(Isa isa, const void* params) {
  const auto& p = as<LinearParams>(params);
  const double positions = static_cast<double>(p.rows) * p.positions;
  const double blocks = positions * ceil_div(p.out_features, 4);
  return work_of({positions, blocks, blocks * ceil_div(p.in_features, lanes(isa))});
}

/// As conv2d_eights_work. Positions; eights; their products; other outputs; their products.
KernelWork linear_eights_work(const void* params) {
  const auto& p = as<LinearParams>(params);
  const double positions = static_cast<double>(p.rows) * p.positions, inputs = p.in_features;
  const double eights = positions * (p.out_features / 8), others = positions * (p.out_features % 8);
  return work_of({positions, eights, eights * inputs, others, others * inputs});
}

/// Positions; blocks of eight outputs; chunks of products; chunks copied.
KernelWork linear_tiles_work(const void* params) {
  const auto& p = as<LinearParams>(params);
  const double positions = static_cast<double>(p.rows) * p.positions, chunks = ceil_div(p.in_features, 16);
  const double blocks = positions * ceil_div(p.out_features, 8);
  return work_of({positions, blocks, blocks * chunks, p.in_features % 16 == 0 ? 0 : positions * chunks});
}

KernelWork conv2d_f32_work(Isa, const void* params) {
  const auto& p = as<Conv2dF32Params>(params);
  const ConvGeometry& g = p.geometry;
  const double outputs = static_cast<double>(g.out_height) * g.out_width * p.groups * p.group_out;
  return work_of({outputs, outputs * g.kernel_height * g.kernel_width * p.group_in});
}

KernelWork linear_f32_work(Isa, const void* params) {
  const auto& p = as<LinearF32Params>(params);
  const double outputs = static_cast<double>(p.rows) * p.positions * p.out_features;
  return work_of({outputs, outputs * p.in_features});
}

/// Rows; blocks; vectors of elements.
KernelWork add_work(Isa isa, const AddWalk& walk) {
  const double blocks = static_cast<double>(walk.rows) * walk.blocks;
  return work_of({static_cast<double>(walk.rows), blocks,
                  blocks * ceil_div(walk.block_elements, lanes(isa) / 4 < 1 ? 1 : lanes(isa) / 4)});
}

/// Positions; blocks of channels; taps of blocks.
KernelWork pool_work(Isa isa, const PoolMap& map) {
  const double positions = static_cast<double>(map.rows.out) * map.columns.out;
  const double blocks = positions * ceil_div(map.channels, lanes(isa));
  return work_of({positions, blocks, blocks * map.rows.kernel * map.columns.kernel});
}

/// Means; taps.
KernelWork mean_work(Isa, const MeanNest& nest) {
  const double outputs = static_cast<double>(nest.kept[0].count) * nest.kept[1].count;
  return work_of({outputs, outputs * nest.reduced[0].count * nest.reduced[1].count});
}

/// Vectors; elements.
KernelWork softmax_work(const SoftmaxWalk& walk) {
  const double vectors = static_cast<double>(walk.rows) * walk.outer * walk.inner;
  return work_of({vectors, vectors * walk.count});
}

/// Rows; vectors of elements.
KernelWork row_work(Isa isa, double rows, double elements) {
  const double wide = isa == Isa::kMve ? 4 : lanes(isa);
  return work_of({rows, rows * ceil_div(elements, wide)});
}

/// Rows; segments; words.
KernelWork pad_work(Isa isa, const void* params) {
  const auto& p = as<PadParams>(params);
  const double segments = static_cast<double>(p.rows) * p.segments, width = isa == Isa::kMve ? 16 : 4;
  const double bytes = p.rows * (static_cast<double>(p.before) + p.after) + segments * (p.left + p.elements + p.right);
  return work_of({static_cast<double>(p.rows), segments, bytes / width});
}

/// Planes; rows of planes; elements.
KernelWork permute_work(const void* params) {
  const auto& p = as<PermuteParams>(params);
  double planes = 1;
  for (int i = 0; i < 4; ++i) planes *= p.shape[i];
  return work_of({planes, planes * p.shape[4], planes * p.shape[4] * p.shape[5]});
}

/// Rows; segments; words.
KernelWork copy_work(Isa isa, const void* params) {
  const auto& p = as<CopyParams>(params);
  const double segments = static_cast<double>(p.rows) * p.segments;
  return work_of(
      {static_cast<double>(p.rows), segments, segments * ceil_div(p.segment_bytes, isa == Isa::kMve ? 16 : 4)});
}

/// Bytes written; bytes read.
KernelWork bytes_work(std::string_view family, const void* params) {
  const KernelContract& contract = *find_kernel_family(family)->host->contract;
  Extents extents{};
  contract.extents(params, &extents);
  double written = 0, read = 0;
  for (uint32_t i = 0; i < contract.operand_count; ++i)
    (contract.written >> i & 1 ? written : read) += extents.bytes[i];
  return work_of({written, read});
}

/// One measured row of the table.
struct Constants {
  std::string_view target;
  std::string_view row;
  std::array<double, kCostTerms> cycles;
};

const std::vector<Constants> kConstants = {
#define RUSH_COST(target, row, ...) {target, #row, {__VA_ARGS__}},
#include "ops/cost_constants.def"
};

const Constants* find_constants(std::string_view target, std::string_view row) {
  const auto it =
      std::ranges::find_if(kConstants, [&](const Constants& c) { return c.target == target && c.row == row; });
  return it == kConstants.end() ? nullptr : &*it;
}

}  // namespace

namespace {

bool is_patch(std::string_view family) { return family == "depthwise_patch_s8" || family == "depthwise_compact_s8"; }

/// As if each band were a part of one call.
KernelWork work_of_bands(Isa isa, std::string_view family, const void* params, const Bands& bands) {
  if (family == "conv2d_two_positions_s8") return conv2d_two_positions_work(params, bands);
  if (isa == Isa::kDsp && family == "conv2d_pairs_s8") return conv2d_pairs_work(params, bands);
  if (family == "conv2d_tiles_s8" || family == "conv2d_rows_s8") return conv2d_tiles_work(params, bands);
  if (is_patch(family)) return depthwise_patch_work(params, bands);
  if (family == "depthwise_column_s8") return depthwise_column_work(params, bands);
  return kernel_work(isa, family, params);
}

Bands whole(const ConvGeometry& g) { return {g.out_height, g.out_height}; }

}  // namespace

KernelWork kernel_work(Isa isa, std::string_view family, const void* params) {
  if (family == "conv2d_two_positions_s8")
    return conv2d_two_positions_work(params, whole(as<Conv2dParams>(params).geometry));
  if (isa == Isa::kScalar && family == "conv2d_s8") return conv2d_eights_work(params);
  if (isa == Isa::kScalar && family == "linear_s8") return linear_eights_work(params);
  if (isa == Isa::kDsp && family == "conv2d_pairs_s8")
    return conv2d_pairs_work(params, whole(as<Conv2dPairsParams>(params).conv.geometry));
  if (family == "conv2d_tiles_s8" || family == "conv2d_rows_s8")
    return conv2d_tiles_work(params, whole(as<Conv2dParams>(params).geometry));
  if (family == "linear_tiles_s8" || family == "linear_one_scale_s8") return linear_tiles_work(params);
  if (family.starts_with("conv2d") && family.ends_with("_s8")) return conv2d_work(isa, params);
  if (family.starts_with("depthwise_conv2d") || family == "depthwise_rows_s8" || family == "depthwise_words_s8")
    return depthwise_work(isa, params);
  if (is_patch(family)) return depthwise_patch_work(params, whole(as<DepthwiseConv2dParams>(params).geometry));
  if (family == "depthwise_column_s8")
    return depthwise_column_work(params, whole(as<DepthwiseConv2dParams>(params).geometry));
  if (family == "linear_s8") return linear_work(isa, params);
  if (family == "conv2d_f32") return conv2d_f32_work(isa, params);
  if (family == "linear_f32") return linear_f32_work(isa, params);
  if (family == "add_s8") return add_work(isa, as<AddParams>(params).walk);
  if (family == "add_f32") return add_work(isa, as<AddF32Params>(params).walk);
  if (family == "avg_pool2d_s8" || family == "max_pool2d_s8") return pool_work(isa, as<PoolMap>(params));
  if (family == "mean_s8") return mean_work(isa, as<MeanParams>(params).nest);
  if (family.starts_with("softmax")) return softmax_work(as<SoftmaxWalk>(params));
  if (family == "clamp_s8") return row_work(isa, as<ClampParams>(params).rows, as<ClampParams>(params).row_elements);
  if (family == "rescale_s8")
    return row_work(isa, as<RescaleParams>(params).rows, as<RescaleParams>(params).row_elements);
  if (family == "quantize_f32_s8")
    return row_work(isa, as<QuantizeParams>(params).rows, as<QuantizeParams>(params).row_elements);
  if (family == "dequantize_s8_f32")
    return row_work(isa, as<DequantizeParams>(params).rows, as<DequantizeParams>(params).row_elements);
  if (family == "pad_s8") return pad_work(isa, params);
  if (family == "permute_8") return permute_work(params);
  if (family == "copy") return copy_work(isa, params);
  return bytes_work(family, params);
}

std::string_view cost_row(Isa isa, std::string_view family, const void* params) {
  // Sums that are shifted left are made codes one by one.
  if (isa == Isa::kDsp && family == "conv2d_pairs_s8" && as<Conv2dPairsParams>(params).conv.codes.left_shift != 0)
    return "conv2d_pairs_s8_shifted";
  return family;
}

std::string_view stand_in(const CostCore& core) {
  if (core.target == "cortex-m35p") return "cortex-m33";
  return core.isa == Isa::kMve ? "cortex-m55" : core.isa == Isa::kDsp ? "cortex-m4" : "cortex-m0plus";
}

namespace {

double cycles_of(const CostCore& core, std::string_view family, const void* params, const KernelWork& work) {
  const std::string_view row = cost_row(core.isa, family, params);
  const Constants* constants = find_constants(core.target, row);
  if (constants == nullptr) constants = find_constants(stand_in(core), row);
  // A family that was never measured: a cycle for each thing that it does.
  if (constants == nullptr) return std::ranges::max(work);
  double cycles = 0;
  for (size_t i = 0; i < kCostTerms; ++i) cycles += constants->cycles[i] * work[i];
  return cycles;
}

}  // namespace

double kernel_cycles(const CostCore& core, std::string_view family, const void* params) {
  return cycles_of(core, family, params, kernel_work(core.isa, family, params));
}

double banded_cycles(const CostCore& core, std::string_view family, const void* params, int rows, int band_rows) {
  return cycles_of(core, family, params, work_of_bands(core.isa, family, params, {rows, band_rows}));
}

}  // namespace rush
