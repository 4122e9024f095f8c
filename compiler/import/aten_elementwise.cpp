// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on each element, activations, normalization, casts, and what is nothing at inference.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/import/aten_map.h"
#include "ops/activation/activation_op.h"
#include "ops/add/add_op.h"
#include "ops/batch_norm/batch_norm_op.h"
#include "ops/cast/cast_op.h"
#include "ops/clamp/clamp_op.h"
#include "ops/identity/identity_op.h"
#include "ops/softmax/softmax_op.h"

namespace rush {
namespace {

constexpr const char* kEvalFix = "call model.eval() before torch.export.export";

// --- add, sub ---

TensorId operand(Call& call, std::string_view name) {
  return call.is_number(name) ? call.add_scalar(name, call.real(name)) : call.tensor(name);
}

/// self + sign * alpha * other, each a tensor or a number.
void translate_sum(Call& call, double sign) {
  const TensorId x = operand(call, "self");
  const double factor = sign * call.real("alpha", 1);
  if (!std::isfinite(factor)) call.fail("alpha is infinite");
  if (call.is_number("other"))
    call.finish_elementwise(Add{}, {x, call.add_scalar("other", factor * call.real("other"))});
  else
    call.finish_elementwise(Add{.alpha = factor}, {x, call.tensor("other")});
}

void translate_add(Call& call) { translate_sum(call, 1); }

void translate_sub(Call& call) { translate_sum(call, -1); }

/// other - alpha * self.
void translate_rsub(Call& call) {
  const double alpha = call.real("alpha", 1);
  if (!std::isfinite(alpha)) call.fail("alpha is infinite");
  call.finish_elementwise(Add{.alpha = -alpha}, {operand(call, "other"), operand(call, "self")});
}

// --- clamps ---

void finish_clamp(Call& call, double min, double max) {
  call.finish_elementwise(Clamp{std::min(min, max), max}, {call.tensor("self")});
}

void translate_relu(Call& call) { finish_clamp(call, 0, INFINITY); }

void translate_relu6(Call& call) { finish_clamp(call, 0, 6); }

void translate_hardtanh(Call& call) { finish_clamp(call, call.real("min_val", -1), call.real("max_val", 1)); }

void translate_clamp(Call& call) { finish_clamp(call, call.real("min", -INFINITY), call.real("max", INFINITY)); }

// --- activations ---

void finish_activation(Call& call, const Activation& activation) {
  call.finish_elementwise(activation, {call.tensor("self")});
}

void translate_hardsigmoid(Call& call) { finish_activation(call, {.function = "hardsigmoid"}); }

void translate_hardswish(Call& call) { finish_activation(call, {.function = "hardswish"}); }

void translate_log_sigmoid(Call& call) { finish_activation(call, {.function = "log_sigmoid"}); }

void translate_mish(Call& call) { finish_activation(call, {.function = "mish"}); }

void translate_sigmoid(Call& call) { finish_activation(call, {.function = "sigmoid"}); }

void translate_silu(Call& call) { finish_activation(call, {.function = "silu"}); }

void translate_tanh(Call& call) { finish_activation(call, {.function = "tanh"}); }

void translate_elu(Call& call) {
  finish_activation(call, {.function = "elu",
                           .alpha = call.real("alpha", 1),
                           .scale = call.real("scale", 1),
                           .input_scale = call.real("input_scale", 1)});
}

/// The constants with which a network normalizes itself, as PyTorch rounds them.
void translate_selu(Call& call) {
  finish_activation(call, {.function = "elu", .alpha = 1.6732632423543772, .scale = 1.0507009873554805});
}

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
void translate_celu(Call& call) {
  const double alpha = call.real("alpha", 1);
  if (alpha <= 0) call.unsupported("alpha below or at 0");
  finish_activation(call, {.function = "elu", .alpha = alpha, .input_scale = 1 / alpha});
}

void translate_gelu(Call& call) {
  const std::string approximate = call.text("approximate", "none");
  if (approximate != "none" && approximate != "tanh") call.unsupported("approximate=\"" + approximate + "\"");
  finish_activation(call, {.function = approximate == "tanh" ? "gelu_tanh" : "gelu"});
}

void translate_leaky_relu(Call& call) {
  finish_activation(call, {.function = "leaky_relu", .alpha = call.real("negative_slope", 0.01)});
}

void translate_prelu(Call& call) {
  const TensorId weight = call.tensor("weight");
  const HostTensor* slope = call.constant(weight);
  if (!slope || slope->size() != 1)
    call.fail("a slope for each channel, or a computed one, is not supported", "take nn.PReLU() with one slope");
  finish_activation(call, {.function = "leaky_relu", .alpha = slope->number(0)});
}

void translate_softplus(Call& call) {
  const double beta = call.real("beta", 1);
  if (beta <= 0) call.unsupported("beta below or at 0");
  finish_activation(call, {.function = "softplus", .input_scale = beta, .threshold = call.real("threshold", 20)});
}

// --- normalization ---

void finish_batch_norm(Call& call) {
  call.ignore({"momentum", "cudnn_enabled"});
  const BatchNorm norm{call.real("eps", 1e-5)};
  call.finish_elementwise(norm, {call.tensor("input"), call.optional_tensor("weight"), call.optional_tensor("bias"),
                                 call.tensor("running_mean"), call.tensor("running_var")});
}

void translate_batch_norm(Call& call) {
  if (call.flag("training", false)) call.fail("the model is in training mode", kEvalFix);
  if (!call.has("running_mean") || !call.has("running_var")) call.unsupported("batch norm without running statistics");
  finish_batch_norm(call);
}

void translate_softmax(Call& call) {
  const TensorId x = call.tensor("self");
  if (call.flag("half_to_float", false)) call.unsupported("softmax of float16");
  if (call.has("dtype") && call.dtype("dtype") != DType::kFloat32) call.unsupported("a result type other than float32");
  call.finish(Softmax{call.axis("dim", call.rank(x))}, {x});
}

// --- nothing at inference ---

void finish_identity(Call& call, const char* what, std::string_view input) {
  call.finish_elementwise(Identity{what}, {call.tensor(input)});
}

void translate_dropout(Call& call) {
  if (call.flag("train", false)) call.fail("the model is in training mode", kEvalFix);
  call.ignore({"p"});
  finish_identity(call, "dropout", "input");
  call.shares_memory_with("input");
}

void translate_clone(Call& call) {
  call.ignore({"memory_format"});
  finish_identity(call, "clone", "self");
}

void translate_alias(Call& call) {
  call.ignore({"memory_format"});
  finish_identity(call, "alias", "self");
  call.shares_memory_with("self");
}

/// self = src, of a buffer mostly: the value of its next run.
void translate_copy(Call& call) {
  const TensorId self = call.tensor("self"), src = call.tensor("src");
  call.ignore({"non_blocking"});
  if (call.type(self).shape != call.type(src).shape || call.type(self).dtype != call.type(src).dtype)
    call.unsupported(fmt::format("copy_ of {} into {}", to_string(call.type(src)), to_string(call.type(self))));
  call.finish_elementwise(Identity{"copy_"}, {src});
}

// --- casts ---

void translate_cast(Call& call) {
  const TensorId x = call.tensor("self");
  call.ignore({"layout", "device", "pin_memory", "non_blocking", "copy", "memory_format"});
  const DType dtype = call.has("dtype") ? call.dtype("dtype") : call.type(x).dtype;
  if (dtype == call.type(x).dtype)
    call.finish_elementwise(Identity{"to"}, {x});
  else
    call.finish_elementwise(Cast{std::string(dtype_name(dtype))}, {x});
  call.shares_memory_with("self");
}

constexpr auto kOperators = std::to_array<AtenOperator>({
    {"aten.add.Tensor", translate_add, &add_op},
    {"aten.add.Scalar", translate_add, &add_op},
    {"aten.add_.Tensor", translate_add, &add_op},
    {"aten.add_.Scalar", translate_add, &add_op},
    {"aten.sub.Tensor", translate_sub, &add_op},
    {"aten.sub.Scalar", translate_sub, &add_op},
    {"aten.sub_.Tensor", translate_sub, &add_op},
    {"aten.sub_.Scalar", translate_sub, &add_op},
    {"aten.rsub.Scalar", translate_rsub, &add_op},
    {"aten.rsub.Tensor", translate_rsub, &add_op},
    {"aten.relu.default", translate_relu, &clamp_op},
    {"aten.relu_.default", translate_relu, &clamp_op},
    {"aten.relu6.default", translate_relu6, &clamp_op},
    {"aten.relu6_.default", translate_relu6, &clamp_op},
    {"aten.hardtanh.default", translate_hardtanh, &clamp_op},
    {"aten.hardtanh_.default", translate_hardtanh, &clamp_op},
    {"aten.clamp.default", translate_clamp, &clamp_op},
    {"aten.clamp_.default", translate_clamp, &clamp_op},
    {"aten.clip.default", translate_clamp, &clamp_op},
    {"aten.clip_.default", translate_clamp, &clamp_op},
    {"aten.clamp_min.default", translate_clamp, &clamp_op},
    {"aten.clamp_min_.default", translate_clamp, &clamp_op},
    {"aten.clamp_max.default", translate_clamp, &clamp_op},
    {"aten.clamp_max_.default", translate_clamp, &clamp_op},
    {"aten.elu.default", translate_elu, &activation_op},
    {"aten.elu_.default", translate_elu, &activation_op},
    {"aten.selu.default", translate_selu, &activation_op},
    {"aten.selu_.default", translate_selu, &activation_op},
    {"aten.celu.default", translate_celu, &activation_op},
    {"aten.celu_.default", translate_celu, &activation_op},
    {"aten.gelu.default", translate_gelu, &activation_op},
    {"aten.gelu_.default", translate_gelu, &activation_op},
    {"aten.hardsigmoid.default", translate_hardsigmoid, &activation_op},
    {"aten.hardsigmoid_.default", translate_hardsigmoid, &activation_op},
    {"aten.hardswish.default", translate_hardswish, &activation_op},
    {"aten.hardswish_.default", translate_hardswish, &activation_op},
    {"aten.leaky_relu.default", translate_leaky_relu, &activation_op},
    {"aten.leaky_relu_.default", translate_leaky_relu, &activation_op},
    {"aten.log_sigmoid.default", translate_log_sigmoid, &activation_op},
    {"aten.mish.default", translate_mish, &activation_op},
    {"aten.mish_.default", translate_mish, &activation_op},
    {"aten.sigmoid.default", translate_sigmoid, &activation_op},
    {"aten.sigmoid_.default", translate_sigmoid, &activation_op},
    {"aten.silu.default", translate_silu, &activation_op},
    {"aten.silu_.default", translate_silu, &activation_op},
    {"aten.tanh.default", translate_tanh, &activation_op},
    {"aten.tanh_.default", translate_tanh, &activation_op},
    {"aten.prelu.default", translate_prelu, &activation_op},
    {"aten.softplus.default", translate_softplus, &activation_op},
    {"aten.batch_norm.default", translate_batch_norm, &batch_norm_op},
    {"aten._native_batch_norm_legit_no_training.default", translate_batch_norm, &batch_norm_op},
    {"aten.softmax.int", translate_softmax, &softmax_op},
    {"aten._softmax.default", translate_softmax, &softmax_op},
    {"aten.dropout.default", translate_dropout, &identity_op},
    {"aten.dropout_.default", translate_dropout, &identity_op},
    {"aten.feature_dropout.default", translate_dropout, &identity_op},
    {"aten.feature_dropout_.default", translate_dropout, &identity_op},
    {"aten.alpha_dropout.default", translate_dropout, &identity_op},
    {"aten.alpha_dropout_.default", translate_dropout, &identity_op},
    {"aten.feature_alpha_dropout.default", translate_dropout, &identity_op},
    {"aten.clone.default", translate_clone, &identity_op},
    {"aten.lift_fresh_copy.default", translate_clone, &identity_op},
    {"aten.alias.default", translate_alias, &identity_op},
    {"aten.detach.default", translate_alias, &identity_op},
    {"aten.detach_.default", translate_alias, &identity_op},
    {"aten.contiguous.default", translate_alias, &identity_op},
    {"aten.lift_fresh.default", translate_alias, &identity_op},
    {"aten.copy_.default", translate_copy},
    {"aten.to.dtype", translate_cast, &cast_op},
    {"aten.to.dtype_layout", translate_cast, &cast_op},
    {"aten.to.device", translate_cast, &cast_op},
    {"aten._to_copy.default", translate_cast, &cast_op},
});

}  // namespace

std::span<const AtenOperator> elementwise_operators() { return kOperators; }

}  // namespace rush
