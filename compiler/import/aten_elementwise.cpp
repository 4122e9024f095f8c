// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on each element, activations, normalization, casts, and what is nothing at inference.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "compiler/import/aten_map.h"
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
