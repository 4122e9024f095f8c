// SPDX-License-Identifier: Apache-2.0
//
// Activations on the host: types, reference, lowering.
#include "ops/activation/activation_op.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "ops/node_error.h"
#include "ops/op_def.h"
#include "ops/quantization.h"
#include "ops/rescale/code_table_op.h"

namespace rush {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double hardsigmoid(double x) { return std::clamp(x + 3, 0.0, 6.0) / 6; }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double elu(double x, const Activation& a) { return a.scale * (x > 0 ? x : a.alpha * std::expm1(x * a.input_scale)); }

double gelu(double x, const Activation&) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }

double gelu_tanh(double x, const Activation&) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

double softplus(double x, const Activation& a) {
  return x * a.input_scale > a.threshold ? x : softplus(x * a.input_scale) / a.input_scale;
}

struct Function {
  std::string_view name;
  double (*of)(double x, const Activation& activation);
};

// A C library's exp may differ in the last bit of a double; the nearest of 256 codes does not.
constexpr auto kFunctions = std::to_array<Function>({
    {"elu", elu},
    {"gelu", gelu},
    {"gelu_tanh", gelu_tanh},
    {"hardsigmoid", [](double x, const Activation&) { return hardsigmoid(x); }},
    {"hardswish", [](double x, const Activation&) { return x * hardsigmoid(x); }},
    {"leaky_relu", [](double x, const Activation& a) { return x > 0 ? x : a.alpha * x; }},
    {"log_sigmoid", [](double x, const Activation&) { return -softplus(-x); }},
    {"mish", [](double x, const Activation&) { return x * std::tanh(softplus(x)); }},
    {"sigmoid", [](double x, const Activation&) { return sigmoid(x); }},
    {"silu", [](double x, const Activation&) { return x * sigmoid(x); }},
    {"softplus", softplus},
    {"tanh", [](double x, const Activation&) { return std::tanh(x); }},
});

const Function* find_function(std::string_view name) {
  const auto* found = std::ranges::find(kFunctions, name, &Function::name);
  return found == kFunctions.end() ? nullptr : found;
}

/// The function with its clamp, on real numbers. NaN stays NaN.
auto function_of(const Activation& a) {
  return [of = find_function(a.function)->of, &a](double x) {
    const double y = of(x, a);
    return y < a.min ? a.min : y > a.max ? a.max : y;
  };
}

std::vector<TensorType> infer(const NodeTypes& types) {
  const Activation& activation = *types.node.as<Activation>();
  if (!find_function(activation.function))
    throw damaged_node(types, fmt::format("there is no activation \"{}\"", activation.function));
  return {{types.input(0).dtype, types.input(0).shape, {}}};
}

CodeTable table_of(const NodeTypes& types) {
  return code_table(*types.input(0).quant, *types.output().quant, function_of(*types.node.as<Activation>()));
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  if (is_quantized_int8(types.output())) return {look_up(*inputs[0], table_of(types))};
  HostTensor out = *inputs[0];
  const auto function = function_of(*types.node.as<Activation>());
  for (int64_t i = 0; i < out.size(); ++i) out.as<float>()[i] = static_cast<float>(function(out.as<float>()[i]));
  return {out};
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  if (!is_quantized_int8(types.input(0)) || !is_quantized_int8(types.output()))
    return fmt::format("{} of {} has no kernel", types.node.as<Activation>()->function, to_string(types.input(0)));
  lowering.emit(look_up_step(types, 0, table_of(types), {lowering.buffer(types.node.out())}, lowering));
  return std::nullopt;
}

}  // namespace

const OpDef activation_op = {
    Activation::kName, [] { return Op(Activation{}); }, infer, evaluate, lower, QuantRule::kRescaled, true};

}  // namespace rush
