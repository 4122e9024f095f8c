// SPDX-License-Identifier: Apache-2.0
//
// Add, the obvious way: one element after the other, its operands found by NumPy's rules.
#include "ops/add/add_ref.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/add/add_op.h"
#include "ops/node_error.h"
#include "ops/quantization.h"

namespace rush {
namespace {

constexpr int64_t kMultiplierLimit = 1 << 22;

/// The scale at one shift, if multipliers and all sums fit. Zero points are taken off exactly, so that two zeros
/// add up to zero. Codes 0 lie within the corners, so that partial sums fit too.
std::optional<AddScale> scale_at(int shift, double a_ratio, double b_ratio, const std::array<int64_t, 3>& zero_points) {
  const double a_real = std::ldexp(a_ratio, shift), b_real = std::ldexp(b_ratio, shift);
  if (std::max(std::abs(a_real), std::abs(b_real)) > kMultiplierLimit - 1) return std::nullopt;
  const int64_t a = std::llround(a_real), b = std::llround(b_real);
  const int64_t offset =
      (zero_points[2] << shift) + (int64_t(1) << (shift - 1)) - zero_points[0] * a - zero_points[1] * b;
  for (const int64_t a_code : {-128, 127}) {
    for (const int64_t b_code : {-128, 127}) {
      const int64_t sum = a_code * a + b_code * b + offset;
      if (sum < INT32_MIN || sum > INT32_MAX) return std::nullopt;
    }
  }
  return AddScale{static_cast<int32_t>(a), static_cast<int32_t>(b), static_cast<int32_t>(offset), shift};
}

/// For each element of `out`, the index of the element of a tensor of shape `in` that is added there.
std::vector<int64_t> broadcast_indices(const Shape& in, const Shape& out) {
  const Shape strides = strides_of(in);
  const size_t missing = out.size() - in.size();
  std::vector<int64_t> indices(static_cast<size_t>(element_count(out)), 0);
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i);
    for (size_t axis = out.size(); axis-- > missing;) {
      if (in[axis - missing] != 1) indices[i] += rest % out[axis] * strides[axis - missing];
      rest /= out[axis];
    }
  }
  return indices;
}

struct Operands {
  const HostTensor& a;
  const HostTensor& b;
  std::vector<int64_t> a_index;
  std::vector<int64_t> b_index;
};

HostTensor add_codes(const NodeTypes& types, const Operands& in) {
  const Add& add = *types.node.as<Add>();
  const Quant& quant = *types.output().quant;
  const auto scale = add_scale(*types.input(0).quant, *types.input(1).quant, add.alpha, quant);
  if (!scale)
    throw node_error(types, std::string(kAddScaleRefusal),
                     "quantize again with an output range that covers the inputs'");
  const Range range = code_range(quant, add.min, add.max);
  HostTensor out(DType::kInt8, types.output().shape);
  for (size_t i = 0; i < in.a_index.size(); ++i) {
    const int64_t sum = int64_t(in.a.as<int8_t>()[in.a_index[i]]) * scale->a_multiplier +
                        int64_t(in.b.as<int8_t>()[in.b_index[i]]) * scale->b_multiplier + scale->offset;
    out.as<int8_t>()[i] = static_cast<int8_t>(std::clamp<int64_t>(sum >> scale->shift, range.min, range.max));
  }
  return out;
}

HostTensor add_floats(const NodeTypes& types, const Operands& in) {
  const Add& add = *types.node.as<Add>();
  const auto alpha = static_cast<float>(add.alpha), min = static_cast<float>(add.min),
             max = static_cast<float>(add.max);
  HostTensor out(DType::kFloat32, types.output().shape);
  for (size_t i = 0; i < in.a_index.size(); ++i) {
    const float sum = in.a.as<float>()[in.a_index[i]] + alpha * in.b.as<float>()[in.b_index[i]];
    out.as<float>()[i] = sum < min ? min : sum > max ? max : sum;
  }
  return out;
}

/// Types that only the torch stage knows.
HostTensor add_numbers(const NodeTypes& types, const Operands& in) {
  const Add& add = *types.node.as<Add>();
  HostTensor out(types.output().dtype, types.output().shape);
  for (size_t i = 0; i < in.a_index.size(); ++i) {
    const double sum = in.a.number(in.a_index[i]) + add.alpha * in.b.number(in.b_index[i]);
    out.set_number(static_cast<int64_t>(i), std::clamp(sum, add.min, add.max));
  }
  return out;
}

}  // namespace

std::optional<AddScale> add_scale(const Quant& a, const Quant& b, double alpha, const Quant& out) {
  const double a_ratio = a.scale[0] / out.scale[0], b_ratio = alpha * b.scale[0] / out.scale[0];
  const std::array<int64_t, 3> zero_points = {a.zero_point[0], b.zero_point[0], out.zero_point[0]};
  for (int shift = 30; shift >= 1; --shift) {
    if (const auto scale = scale_at(shift, a_ratio, b_ratio, zero_points)) return scale;
  }
  return std::nullopt;
}

std::vector<HostTensor> evaluate_add(const NodeTypes& types, const Tensors& inputs) {
  const Shape& shape = types.output().shape;
  const Operands in = {*inputs[0], *inputs[1], broadcast_indices(inputs[0]->shape(), shape),
                       broadcast_indices(inputs[1]->shape(), shape)};
  if (is_quantized_int8(types.output())) return {add_codes(types, in)};
  return {types.output().dtype == DType::kFloat32 ? add_floats(types, in) : add_numbers(types, in)};
}

}  // namespace rush
