// SPDX-License-Identifier: Apache-2.0
#include "ops/advice.h"

#include <cstring>

#include "ops/conv2d/conv2d.h"
#include "ops/depthwise_conv2d/depthwise_conv2d.h"
#include "ops/linear/linear.h"
#include "ops/op_def.h"

namespace rush {
namespace {

template <class Params>
const Params& as(const void* params) {
  return *static_cast<const Params*>(params);
}

bool is_convolution(std::string_view family) { return family.starts_with("conv2d") && family.ends_with("_s8"); }

bool is_linear(std::string_view family) {
  return family == "linear_s8" || family == "linear_tiles_s8" || family == "linear_one_scale_s8";
}

/// conv2d_s8 is what is left where a faster family does not fit or is not wanted.
std::string plain_convolution(Isa isa, const Conv2dParams& p) {
  if (isa == Isa::kScalar) return "eight outputs of a position at a time";
  if (p.codes.left_shift != 0) return "a scale above 1/4 shifts sums left, which the tiles cannot";
  return "less code than the tiles, or its windows are longer than they hold";
}

std::string linear_reason(Isa isa, const LinearParams& p) {
  if (isa != Isa::kMve) return isa == Isa::kDsp ? "too long for conv2d_pairs_s8" : "eight outputs at a time";
  return p.codes.left_shift != 0 ? "a scale above 1/4 shifts sums left, which the tiles cannot"
                                 : "less code than tiles";
}

std::string depthwise_reason(Isa isa) {
  if (isa == Isa::kScalar) return "channels not in fours, a larger window or a left shift: not word by word";
  return isa == Isa::kDsp ? "not 3x3 of stride 1 or 2 with at least four channels, which depthwise_rows_s8 takes"
                          : "channels not in fours, a larger window, dilation or a left shift: no patch fits";
}

/// Cycles with one field of the params set to `value`.
template <class Params, class Field>
double cycles_with(const CostCore& core, std::string_view family, const void* params, Field Params::* field,
                   uint32_t value) {
  const size_t bytes = find_kernel_family(family)->host->contract->params_bytes;
  std::vector<uint8_t> changed(bytes);
  std::memcpy(changed.data(), params, bytes);
  reinterpret_cast<Params*>(changed.data())->*field = static_cast<Field>(value);
  return kernel_cycles(core, family, changed.data());
}

/// Tries the next multiple of 16, or of what fills the lanes of a smaller core.
template <class Params, class Field>
void advise(const CostCore& core, std::string_view family, const void* params, Field Params::* field,
            std::string_view what, std::vector<SizeAdvice>& to) {
  constexpr double kMostGrowth = 2, kLeastGain = 1.1;
  const uint32_t step = core.isa == Isa::kMve ? 16 : core.isa == Isa::kDsp ? 4 : 8;
  const uint32_t now = as<Params>(params).*field, better = (now + step - 1) / step * step;
  if (better == now || better > kMostGrowth * now) return;
  const double work = static_cast<double>(better) / now;
  const double time = cycles_with(core, family, params, field, better) / kernel_cycles(core, family, params);
  if (work >= kLeastGain * time) to.push_back({what, now, better, work, time});
}

}  // namespace

std::string kernel_reason(Isa isa, std::string_view family, const void* params) {
  if (family == "conv2d_tiles_s8")
    return as<Conv2dParams>(params).gather != 0 ? "two positions by four outputs; windows are copied to one piece first"
                                                : "two positions by four outputs; the map is read where it lies";
  if (family == "conv2d_rows_s8") return "two positions by four outputs; rows of windows are read where they lie";
  if (family == "conv2d_pairs_s8") return "windows are unpacked once for all outputs, then two products an instruction";
  if (family == "conv2d_two_positions_s8") return "two positions share each multiplication";
  if (family == "conv2d_s8") return plain_convolution(isa, as<Conv2dParams>(params));
  if (family == "linear_tiles_s8" || family == "linear_one_scale_s8") return "inputs are loaded once for eight outputs";
  if (family == "linear_s8") return linear_reason(isa, as<LinearParams>(params));
  if (family == "depthwise_patch_s8" || family == "depthwise_compact_s8")
    return "four rows interleaved: a window is one vector of products";
  if (family == "depthwise_column_s8") return "a map of one column: sixteen neighbouring rows are one vector";
  if (family == "depthwise_rows_s8") return "3x3: two columns of a channel in a register";
  if (family == "depthwise_words_s8") return "four channels of a position at a time";
  if (family == "depthwise_conv2d_s8") return depthwise_reason(isa);
  if (family == "copy") return "the bytes are needed in another place";
  if (family.starts_with("permute")) return "the axes are needed in another order";
  if (family.starts_with("pad")) return "no layer behind it takes the padding into its own";
  if (family.starts_with("quantize")) return "an integer layer reads a float result";
  if (family.starts_with("dequantize")) return "a float layer reads an integer result";
  if (family.starts_with("clamp")) return "no layer before it takes the limits into its own";
  if (family.starts_with("rescale"))
    return "a table: the scale changes between two layers, or an activation has one of its own";
  if (family.ends_with("_f32")) return "the layer is not quantized";
  return "the operator's only int8 kernel";
}

std::vector<SizeAdvice> advise_sizes(const CostCore& core, std::string_view family, const void* params) {
  std::vector<SizeAdvice> all;
  if (is_convolution(family)) {
    advise(core, family, params, &Conv2dParams::in_channels, "input channels", all);
    advise(core, family, params, &Conv2dParams::out_channels, "output channels", all);
  } else if (is_linear(family)) {
    advise(core, family, params, &LinearParams::in_features, "input features", all);
    advise(core, family, params, &LinearParams::out_features, "output features", all);
  } else if (family.starts_with("depthwise")) {
    advise(core, family, params, &DepthwiseConv2dParams::channels, "channels", all);
  }
  return all;
}

}  // namespace rush
