// SPDX-License-Identifier: Apache-2.0
//
// Softmax, the obvious way: vector by vector, with a division for each.
#include "ops/softmax/softmax_ref.h"

#include <algorithm>
#include <cmath>

#include "ops/node_error.h"
#include "ops/quantization.h"
#include "ops/softmax/exponential.h"
#include "ops/softmax/softmax_op.h"

namespace rush {
namespace {

constexpr int kTableBits = 31, kExponentialBits = 30;

/// exp(x) for x <= 0 from additions and multiplications alone: a C library may differ in the last bit.
double portable_exp(double x) {
  const double n = std::nearbyint(x / 0.693147180559945309417);
  const double r = x - n * 0.693147180559945309417;
  double sum = 1, term = 1;
  for (int i = 1; i <= 20; ++i) {
    term *= r / i;
    sum += term;
  }
  return std::ldexp(sum, static_cast<int>(std::max(n, -2000.0)));
}

/// Indices of the elements of each vector.
std::vector<std::vector<int64_t>> vectors_of(const SoftmaxAxis& axis) {
  std::vector<std::vector<int64_t>> vectors;
  for (int64_t o = 0; o < axis.outer; ++o) {
    for (int64_t i = 0; i < axis.inner; ++i) {
      std::vector<int64_t>& vector = vectors.emplace_back();
      for (int64_t k = 0; k < axis.count; ++k) vector.push_back((o * axis.count + k) * axis.inner + i);
    }
  }
  return vectors;
}

/// What the exponentials of a vector are multiplied by to be output steps: multiplier / 2^(32 + shift).
SoftmaxScale vector_scale(int64_t sum, const SoftmaxScale& output) {
  int shift = output.shift;
  for (; sum >= int64_t(1) << 31; sum /= 2) ++shift;
  const int64_t reciprocal = std::min<int64_t>((int64_t(1) << 61) / sum, INT32_MAX);
  return {static_cast<int32_t>((reciprocal * output.multiplier) >> 32), std::min(shift, 31)};
}

HostTensor softmax_codes(const NodeTypes& types, const HostTensor& in, const SoftmaxAxis& axis) {
  const Quant& quant = *types.output().quant;
  const SoftmaxTable table = softmax_table(types.input(0).quant->scale[0]);
  const auto output = softmax_output_scale(quant.scale[0]);
  if (!output) throw node_error(types, "softmax with an output scale below 2^-27", "quantize its output again");
  HostTensor out(DType::kInt8, in.shape());
  for (const auto& vector : vectors_of(axis)) {
    int max = -128;
    for (const int64_t i : vector) max = std::max<int>(max, in.as<int8_t>()[i]);
    const auto exponential_of = [&](int64_t i) {
      const int distance = max - in.as<int8_t>()[i];
      return static_cast<int32_t>(int64_t{table.coarse[distance / 16]} * table.fine[distance % 16] >> 32);
    };
    int64_t sum = 0;
    for (const int64_t i : vector) sum += exponential_of(i);
    const SoftmaxScale scale = vector_scale(sum, *output);
    for (const int64_t i : vector) {
      const int64_t steps = requantize(exponential_of(i), scale.multiplier, scale.shift);
      out.as<int8_t>()[i] = static_cast<int8_t>(std::clamp(steps + quant.zero_point[0], quant.min, quant.max));
    }
  }
  return out;
}

HostTensor softmax_floats(const HostTensor& in, const SoftmaxAxis& axis) {
  HostTensor out(DType::kFloat32, in.shape());
  for (const auto& vector : vectors_of(axis)) {
    float max = in.as<float>()[vector[0]], sum = 0;
    for (const int64_t i : vector) max = in.as<float>()[i] > max ? in.as<float>()[i] : max;
    for (const int64_t i : vector) sum += exponential(in.as<float>()[i] - max);
    const float reciprocal = 1.0f / sum;
    for (const int64_t i : vector) out.as<float>()[i] = exponential(in.as<float>()[i] - max) * reciprocal;
  }
  return out;
}

}  // namespace

SoftmaxTable softmax_table(double input_scale) {
  const auto entry = [&](int distance) {
    return static_cast<int32_t>(-std::llround(std::ldexp(portable_exp(-distance * input_scale), kTableBits)));
  };
  SoftmaxTable table;
  for (int i = 0; i < 16; ++i) {
    table.coarse[i] = entry(16 * i);
    table.fine[i] = entry(i);
  }
  return table;
}

std::optional<SoftmaxScale> softmax_output_scale(double output_scale) {
  const auto inverse = quantize_multiplier(1 / output_scale);
  // exponentials and reciprocals are fractions of 2^30 and 2^31, less the 32 bits that two products drop
  if (!inverse || inverse->shift + kExponentialBits - 1 < 1) return std::nullopt;
  return SoftmaxScale{inverse->multiplier, std::min(inverse->shift + kExponentialBits - 1, 31)};
}

SoftmaxAxis softmax_axis(const Shape& shape, int64_t axis) {
  SoftmaxAxis result{1, shape[static_cast<size_t>(axis)], 1};
  for (int64_t i = 0; i < std::ssize(shape); ++i) {
    if (i < axis) result.outer *= shape[static_cast<size_t>(i)];
    if (i > axis) result.inner *= shape[static_cast<size_t>(i)];
  }
  return result;
}

std::vector<HostTensor> evaluate_softmax(const NodeTypes& types, const Tensors& inputs) {
  const SoftmaxAxis axis = softmax_axis(types.input(0).shape, types.node.as<Softmax>()->axis);
  if (is_quantized_int8(types.output())) return {softmax_codes(types, *inputs[0], axis)};
  return {softmax_floats(*inputs[0], axis)};
}

}  // namespace rush
