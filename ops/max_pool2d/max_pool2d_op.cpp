// SPDX-License-Identifier: Apache-2.0
//
// Maximum pooling on the host: types, reference, lowering.
#include "ops/max_pool2d/max_pool2d_op.h"

#include <cmath>

#include "ops/avg_pool2d/pool_ref.h"
#include "ops/max_pool2d/max_pool2d.h"
#include "ops/quantization.h"

namespace rush {
namespace {

PoolGeometry geometry_of(const NodeTypes& types) {
  const MaxPool2d& pool = *types.node.as<MaxPool2d>();
  return pool_geometry(types, {.kernel = pool.kernel,
                               .stride = pool.stride,
                               .padding = pool.padding,
                               .dilation = pool.dilation,
                               .ceil_mode = pool.ceil_mode,
                               .layout = pool.layout});
}

std::vector<TensorType> infer(const NodeTypes& types) {
  return {{types.input(0).dtype, geometry_of(types).output_shape(), {}}};
}

/// NaN wins, as in PyTorch.
double greatest(const HostTensor& in, const std::vector<int64_t>& taps, double least) {
  double best = least;
  for (const int64_t tap : taps) {
    const double value = in.number(tap);
    if (value > best || std::isnan(value)) best = value;
  }
  return best;
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const bool codes = is_quantized_int8(types.output());
  const double least = codes ? static_cast<double>(types.output().quant->min) : -INFINITY;
  HostTensor out(types.output().dtype, types.output().shape);
  each_pool_window(geometry_of(types), [&](int64_t i, int64_t, int64_t, const std::vector<int64_t>& taps) {
    out.set_number(i, greatest(*inputs[0], taps, least));
  });
  return {out};
}

std::optional<std::string> lower_as(const NodeTypes& types, Lowering& lowering, std::string_view family,
                                    uint32_t element_bytes) {
  const PoolGeometry geometry = geometry_of(types);
  const auto map = pool_map(geometry, element_bytes);
  if (!map) return kPoolTooLarge;
  const MaxPool2dParams params = {*map, element_bytes == 1 ? static_cast<int32_t>(types.output().quant->min) : 0};
  emit_pool_steps(types, lowering, geometry,
                  {.family = find_kernel_family(family), .params = params_bytes(params), .operands = {}});
  return std::nullopt;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const MaxPool2d& pool = *types.node.as<MaxPool2d>();
  const TensorType& in = types.input(0);
  if (pool.layout != "nhwc") return "maximum pooling in layout " + pool.layout + " has no kernel";
  if (same_quant(in, types.output())) return lower_as(types, lowering, "max_pool2d_s8", 1);
  if (in.dtype == DType::kFloat32) return lower_as(types, lowering, "max_pool2d_f32", 4);
  return "maximum pooling of " + to_string(in) + " has no kernel";
}

}  // namespace

const OpDef max_pool2d_op = {MaxPool2d::kName, [] { return Op(MaxPool2d{}); }, infer, evaluate, lower,
                             QuantRule::kMoved};

const HostKernel max_pool2d_s8_host = {.contract = &max_pool2d_s8_contract,
                                       .run = max_pool2d_s8_scalar,
                                       .packing = {},
                                       .stack_bytes = 384,
                                       .rows_at_once = 1};
const HostKernel max_pool2d_f32_host = {
    .contract = &max_pool2d_f32_contract, .run = max_pool2d_f32_scalar, .packing = {}, .stack_bytes = 320};

}  // namespace rush
