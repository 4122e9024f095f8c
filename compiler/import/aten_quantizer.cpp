// SPDX-License-Identifier: Apache-2.0
//
// quantized_decomposed: the quantize and dequantize nodes of PT2E. The parameters become the quantization of the
// integer side's type; they may be literals or constant tensors.
#include <fmt/format.h>

#include <array>
#include <cfloat>
#include <cmath>
#include <limits>

#include "compiler/import/aten_map.h"
#include "ops/dequantize/dequantize_op.h"
#include "ops/quantize/quantize_op.h"

namespace rush {
namespace {

struct Limits {
  int64_t min, max;
};

Limits limits_of(Call& call, DType dtype) {
  switch (dtype) {
    case DType::kInt8:
      return {INT8_MIN, INT8_MAX};
    case DType::kUInt8:
      return {0, UINT8_MAX};
    case DType::kInt16:
      return {INT16_MIN, INT16_MAX};
    case DType::kInt32:
      return {INT32_MIN, INT32_MAX};
    default:
      call.fail(fmt::format("{} quantization is not supported", dtype_name(dtype)),
                "quantize activations and weights to int8");
  }
}

/// Empty if a scale is usable in float32 arithmetic.
std::string fault_of_scale(double scale) {
  if (std::isnan(scale)) return "not a number (NaN)";
  if (scale < 0) return fmt::format("negative ({})", scale);
  if (scale == 0) return "zero";
  if (scale > FLT_MAX) return "infinite in float32";
  if (scale < FLT_MIN) return fmt::format("too small for float32 ({})", scale);
  return {};
}

void check_range(Call& call, const Quant& quant, DType dtype) {
  const Limits limits = limits_of(call, dtype);
  if (quant.min >= quant.max)
    call.fail(fmt::format("quant_min {} is not below quant_max {}", quant.min, quant.max), "quantize the model again");
  if (quant.min < limits.min || quant.max > limits.max)
    call.fail(fmt::format("quant_min {} or quant_max {} lies outside {}", quant.min, quant.max, dtype_name(dtype)),
              "quantize the model again");
}

/// `index` is empty, or " of channel 3 in \"_scale_0\"".
void check_parameters(Call& call, const Quant& quant, size_t i, const std::string& index) {
  const std::string fault = fault_of_scale(quant.scale[i]);
  if (!fault.empty()) call.fail(fmt::format("the scale{} is {}", index, fault), "quantize the model again");
  if (quant.zero_point[i] < quant.min || quant.zero_point[i] > quant.max)
    call.fail(fmt::format("the zero_point{} is {}, outside {} .. {}", index, quant.zero_point[i], quant.min, quant.max),
              "quantize the model again");
}

int64_t whole_number(Call& call, const char* name, double value) {
  if (std::trunc(value) != value || std::abs(value) > INT32_MAX + 1.0)
    call.fail(fmt::format("{} {} is not a 32-bit integer", name, value), "quantize the model again");
  return static_cast<int64_t>(value);
}

int64_t whole_argument(Call& call, const char* name) { return whole_number(call, name, call.constant_number(name)); }

Quant quant_per_tensor(Call& call, DType dtype) {
  Quant quant{.scale = {call.constant_number("scale")},
              .zero_point = {whole_argument(call, "zero_point")},
              .min = whole_argument(call, "quant_min"),
              .max = whole_argument(call, "quant_max")};
  check_range(call, quant, dtype);
  check_parameters(call, quant, 0, "");
  return quant;
}

/// A constant vector with an element for each of `count` channels.
const HostTensor& channel_values(Call& call, const char* name, int64_t count) {
  const TensorId id = call.tensor(name);
  const HostTensor* values = call.constant(id);
  if (!values) call.fail(fmt::format("{} is not a constant", name), "quantize statically: calibrate, then convert");
  if (values->size() != count)
    call.fail(fmt::format("{} has {} elements for {} channels", name, values->size(), count),
              "quantize the model again");
  return *values;
}

std::string channel_text(Call& call, size_t i) {
  return fmt::format(" of channel {} in \"{}\"", i, call.writer().graph()[call.tensor("scales")].name);
}

Quant quant_per_channel(Call& call, DType dtype) {
  const Shape shape = call.shape(call.tensor("input"));
  Quant quant{.axis = static_cast<int>(call.axis("axis", shape.size())),
              .min = whole_argument(call, "quant_min"),
              .max = whole_argument(call, "quant_max")};
  check_range(call, quant, dtype);
  if (shape.empty()) call.fail("a scalar has no channels");
  const int64_t count = shape[static_cast<size_t>(quant.axis)];
  const HostTensor& scales = channel_values(call, "scales", count);
  const HostTensor* zeros = call.has("zero_points") ? &channel_values(call, "zero_points", count) : nullptr;
  for (int64_t i = 0; i < count; ++i) {
    quant.scale.push_back(scales.number(i));
    quant.zero_point.push_back(zeros ? whole_number(call, "zero_point", zeros->number(i)) : 0);
    check_parameters(call, quant, static_cast<size_t>(i), channel_text(call, static_cast<size_t>(i)));
  }
  return quant;
}

void finish_quantize(Call& call, Quant (*read_quant)(Call&, DType)) {
  const DType dtype = call.dtype("dtype");
  const Quant quant = read_quant(call, dtype);
  NewNode node{.op = Quantize{}, .inputs = {call.tensor("input")}, .dtype = dtype, .quant = quant};
  if (quant.per_tensor())
    call.finish_elementwise(std::move(node));
  else
    call.result(call.step(std::move(node)));
}

void finish_dequantize(Call& call, Quant (*read_quant)(Call&, DType)) {
  const DType dtype = call.dtype("dtype");
  const TensorId input = call.tensor("input");
  if (call.has("out_dtype") && call.dtype("out_dtype") != DType::kFloat32)
    call.unsupported("a result type other than float32");
  const Quant quant = read_quant(call, dtype);
  if (call.type(input).dtype != dtype)
    call.fail(fmt::format("input {} is not {}", to_string(call.type(input)), dtype_name(dtype)),
              "export the model again");
  const std::optional<TensorId> codes = call.writer().with_quant(input, quant);
  if (!codes) call.unsupported("dequantizing with another scale or zero point than the input was quantized with");
  if (quant.per_tensor())
    call.finish_elementwise(Dequantize{}, {*codes});
  else
    call.finish(Dequantize{}, {*codes});
}

void translate_quantize(Call& call) { finish_quantize(call, quant_per_tensor); }
void translate_quantize_channels(Call& call) { finish_quantize(call, quant_per_channel); }
void translate_dequantize(Call& call) { finish_dequantize(call, quant_per_tensor); }
void translate_dequantize_channels(Call& call) { finish_dequantize(call, quant_per_channel); }

constexpr auto kOperators = std::to_array<AtenOperator>({
    {"quantized_decomposed.quantize_per_tensor.default", translate_quantize, &quantize_op},
    {"quantized_decomposed.quantize_per_tensor.tensor", translate_quantize, &quantize_op},
    {"quantized_decomposed.quantize_per_tensor.tensor2", translate_quantize, &quantize_op},
    {"quantized_decomposed.dequantize_per_tensor.default", translate_dequantize, &dequantize_op},
    {"quantized_decomposed.dequantize_per_tensor.tensor", translate_dequantize, &dequantize_op},
    {"quantized_decomposed.dequantize_per_tensor.tensor2", translate_dequantize, &dequantize_op},
    {"quantized_decomposed.quantize_per_channel.default", translate_quantize_channels, &quantize_op},
    {"quantized_decomposed.dequantize_per_channel.default", translate_dequantize_channels, &dequantize_op},
});

}  // namespace

std::span<const AtenOperator> quantizer_operators() { return kOperators; }

}  // namespace rush
