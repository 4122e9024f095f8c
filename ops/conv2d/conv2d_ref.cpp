// SPDX-License-Identifier: Apache-2.0
//
// The obvious convolution. Integers: exact sums of w * (x - zero point), taken modulo 2^32, requantized, clamped.
// Float: products rounded, summed in the order of the weights, the bias last; other layouts are brought into NHWC
// first, so that every stage has the same bits.
#include "ops/conv2d/conv2d_ref.h"

#include <algorithm>

#include "ops/conv2d/conv2d_op.h"
#include "ops/conv2d/conv2d_packing.h"
#include "ops/node_error.h"
#include "ops/quantization.h"

namespace rush {
namespace {

constexpr int64_t kLargest = int64_t{1} << 24;  // of any attribute: keeps products far from overflow

bool all_in(const std::vector<int64_t>& values, size_t count, int64_t least) {
  return values.size() == count && std::ranges::all_of(values, [&](int64_t v) { return v >= least && v <= kLargest; });
}

ConvAxis axis_of(const Conv2d& conv, size_t axis, int64_t in, int64_t kernel) {
  ConvAxis result{
      in, 0, kernel, conv.stride[axis], conv.dilation[axis], conv.padding[2 * axis], conv.padding[2 * axis + 1]};
  const int64_t room = in + result.pad + result.pad_after - (kernel - 1) * result.dilation - 1;
  result.out = room < 0 ? 0 : room / result.stride + 1;
  return result;
}

/// Sizes in the order of "nhwc", whatever the layout.
struct Axes {
  size_t channels, height, width;
};
Axes axes_of(const std::string& layout) { return layout == "nhwc" ? Axes{3, 1, 2} : Axes{1, 2, 3}; }

void check_operands(const NodeTypes& types, const ConvShape& shape, const Axes& axes) {
  const Shape& x = types.input(0).shape;
  if (x[axes.channels] != shape.in_channels())
    throw damaged_node(types, "the weight's input channels are not those of the input");
  if (types.has_input(2) && types.input(2).shape != Shape{shape.out_channels()})
    throw damaged_node(types, "the bias does not have one value for each output channel");
  if (shape.rows.out < 1 || shape.columns.out < 1)
    throw node_error(types, "the window is larger than the padded input", "use a smaller kernel or a larger input");
}

/// One output value's taps: f(input index, weight index within the output's weights), in the weights' order.
template <class F>
void for_each_tap(const ConvShape& s, int64_t y, int64_t x, F f) {
  for (int64_t i = 0; i < s.rows.kernel; ++i) {
    const int64_t row = s.rows.position(y, i);
    if (row < 0 || row >= s.rows.in) continue;
    for (int64_t j = 0; j < s.columns.kernel; ++j) {
      const int64_t column = s.columns.position(x, j);
      if (column < 0 || column >= s.columns.in) continue;
      for (int64_t c = 0; c < s.group_in; ++c)
        f((row * s.columns.in + column) * s.in_channels() + c, (i * s.columns.kernel + j) * s.group_in + c);
    }
  }
}

/// Sets out[n, y, x, o] = f(n, y, x, o, group).
template <class T, class F>
void for_each_output(const ConvShape& s, HostTensor& out, F f) {
  T* to = out.as<T>();
  for (int64_t n = 0; n < s.batch; ++n)
    for (int64_t y = 0; y < s.rows.out; ++y)
      for (int64_t x = 0; x < s.columns.out; ++x)
        for (int64_t o = 0; o < s.out_channels(); ++o) *to++ = f(n, y, x, o);
}

int64_t group_start(const ConvShape& s, int64_t n, int64_t o) {
  return n * s.rows.in * s.columns.in * s.in_channels() + o / s.group_out * s.group_in;
}

HostTensor evaluate_float(const Conv2d& conv, const ConvShape& s, const Tensors& nhwc) {
  HostTensor out(DType::kFloat32, {s.batch, s.rows.out, s.columns.out, s.out_channels()});
  for_each_output<float>(s, out, [&](int64_t n, int64_t y, int64_t x, int64_t o) {
    const float* in = nhwc[0]->as<float>() + group_start(s, n, o);
    const float* weight = nhwc[1]->as<float>() + o * s.window();
    float sum = 0;
    for_each_tap(s, y, x, [&](int64_t i, int64_t w) { sum += in[i] * weight[w]; });
    sum += nhwc[2] ? nhwc[2]->as<float>()[o] : 0.0f;
    return sum < conv.min ? static_cast<float>(conv.min) : sum > conv.max ? static_cast<float>(conv.max) : sum;
  });
  return out;
}

HostTensor evaluate_int8(const NodeTypes& types, const ConvShape& s, const Tensors& nhwc) {
  const Conv2d& conv = *types.node.as<Conv2d>();
  const std::vector<Multiplier> multipliers = required_multipliers(types);
  const Range range = code_range(*types.output().quant, conv.min, conv.max);
  const int64_t zero_point = types.input(0).quant->zero_point[0];
  HostTensor out(DType::kInt8, {s.batch, s.rows.out, s.columns.out, s.out_channels()});
  for_each_output<int8_t>(s, out, [&](int64_t n, int64_t y, int64_t x, int64_t o) {
    const int8_t* in = nhwc[0]->as<int8_t>() + group_start(s, n, o);
    const int8_t* weight = nhwc[1]->as<int8_t>() + o * s.window();
    int64_t sum = nhwc[2] ? nhwc[2]->as<int32_t>()[o] : 0;
    for_each_tap(s, y, x, [&](int64_t i, int64_t w) { sum += (in[i] - zero_point) * weight[w]; });
    return code_of_sum(sum, multipliers[static_cast<size_t>(o)], *types.output().quant, range);
  });
  return out;
}

}  // namespace

ConvShape conv_shape(const NodeTypes& types) {
  const Conv2d& conv = *types.node.as<Conv2d>();
  const Shape &x = types.input(0).shape, &weight = types.input(1).shape;
  if (x.size() != 4 || weight.size() != 4) throw damaged_node(types, "input and weight must have four axes");
  if (!all_in(conv.stride, 2, 1) || !all_in(conv.dilation, 2, 1) || !all_in(conv.padding, 4, 0))
    throw damaged_node(types, "stride, dilation or padding out of range");
  if (conv.groups < 1 || weight[0] % conv.groups != 0 || !all_in(weight, 4, 1))
    throw damaged_node(types, "the output channels are not a multiple of the groups");
  const Axes axes = axes_of(conv.layout);
  const ConvShape shape = {x[0],
                           axis_of(conv, 0, x[axes.height], weight[axes.height]),
                           axis_of(conv, 1, x[axes.width], weight[axes.width]),
                           conv.groups,
                           weight[axes.channels],
                           weight[0] / conv.groups};
  check_operands(types, shape, axes);
  return shape;
}

std::vector<Multiplier> required_multipliers(const NodeTypes& types) {
  const auto multipliers = channel_multipliers(types);
  if (!multipliers)
    throw node_error(types, std::string(kScaleTooSmall), "calibrate again: the output's range is too small");
  return *multipliers;
}

int8_t code_of_sum(int64_t sum, const Multiplier& multiplier, const Quant& quant, const Range& range) {
  const auto acc = static_cast<int32_t>(static_cast<uint32_t>(sum));
  const int64_t code = requantize_any(acc, multiplier.multiplier, multiplier.shift) + quant.zero_point[0];
  return static_cast<int8_t>(std::clamp<int64_t>(code, range.min, range.max));
}

std::vector<HostTensor> evaluate_conv2d(const NodeTypes& types, const Tensors& inputs) {
  const Conv2d& conv = *types.node.as<Conv2d>();
  const ConvShape shape = conv_shape(types);
  const bool is_float = types.output().dtype == DType::kFloat32, is_nhwc = conv.layout == "nhwc";
  const HostTensor x = is_nhwc ? *inputs[0] : permuted(*inputs[0], {0, 2, 3, 1});
  const HostTensor weight = is_nhwc ? *inputs[1] : permuted(*inputs[1], {0, 2, 3, 1});
  const Tensors nhwc = {&x, &weight, inputs.size() > 2 ? inputs[2] : nullptr};
  const HostTensor out = is_float ? evaluate_float(conv, shape, nhwc) : evaluate_int8(types, shape, nhwc);
  return {is_nhwc ? out : permuted(out, {0, 3, 1, 2})};
}

}  // namespace rush
