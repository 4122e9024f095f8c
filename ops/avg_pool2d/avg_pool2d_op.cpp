// SPDX-License-Identifier: Apache-2.0
//
// Average pooling on the host: types, reference, lowering.
#include "ops/avg_pool2d/avg_pool2d_op.h"

#include <algorithm>

#include "ops/avg_pool2d/average_ref.h"
#include "ops/avg_pool2d/avg_pool2d.h"
#include "ops/avg_pool2d/pool_ref.h"
#include "ops/mean/mean_rows_op.h"
#include "ops/node_error.h"
#include "ops/quantization.h"

namespace rush {
namespace {

PoolGeometry geometry_of(const NodeTypes& types) {
  const AvgPool2d& pool = *types.node.as<AvgPool2d>();
  return pool_geometry(types, {.kernel = pool.kernel,
                               .stride = pool.stride,
                               .padding = pool.padding,
                               .dilation = {1, 1},
                               .ceil_mode = pool.ceil_mode,
                               .layout = pool.layout});
}

std::vector<TensorType> infer(const NodeTypes& types) {
  if (types.node.as<AvgPool2d>()->divisor < 0) throw damaged_node(types, "the divisor is negative");
  return {{types.input(0).dtype, geometry_of(types).output_shape(), {}}};
}

/// The positions [begin, end) of one axis that count in the divisor.
struct Counted {
  int64_t begin;
  int64_t end;
};

Counted counted_positions(const AvgPool2d& pool, const HostPoolAxis& axis) {
  if (pool.divisor != 0) return {INT16_MIN, UINT16_MAX};
  if (!pool.count_include_pad) return {0, axis.in};
  return {-axis.pad, axis.in + axis.pad_after};
}

/// How many positions of window i count.
int64_t count_of(const AvgPool2d& pool, const HostPoolAxis& axis, int64_t i) {
  const Counted positions = counted_positions(pool, axis);
  const int64_t begin = i * axis.stride - axis.pad;
  return std::min(begin + axis.kernel, positions.end) - std::max(begin, positions.begin);
}

int64_t divisor_of(const AvgPool2d& pool, const PoolGeometry& g, int64_t y, int64_t x) {
  if (pool.divisor != 0) return pool.divisor;
  return count_of(pool, g.rows, y) * count_of(pool, g.columns, x);
}

int8_t code_of(const NodeTypes& types, const int8_t* in, const std::vector<int64_t>& taps, int64_t divisor) {
  const Quant &from = *types.input(0).quant, &to = *types.output().quant;
  int64_t sum = 0;
  for (const int64_t tap : taps) sum += in[tap] - from.zero_point[0];
  return static_cast<int8_t>(std::clamp(mean_code(sum, divisor, from, to), to.min, to.max));
}

float float_of(const float* in, const std::vector<int64_t>& taps, int64_t divisor) {
  float sum = 0;
  for (const int64_t tap : taps) sum += in[tap];
  return sum * (1.0f / static_cast<float>(divisor));
}

std::vector<HostTensor> evaluate(const NodeTypes& types, const Tensors& inputs) {
  const AvgPool2d& pool = *types.node.as<AvgPool2d>();
  const PoolGeometry g = geometry_of(types);
  HostTensor out(types.output().dtype, types.output().shape);
  each_pool_window(g, [&](int64_t i, int64_t y, int64_t x, const std::vector<int64_t>& taps) {
    const int64_t divisor = divisor_of(pool, g, y, x);
    if (is_quantized_int8(types.output())) {
      out.as<int8_t>()[i] = code_of(types, inputs[0]->as<int8_t>(), taps, divisor);
    } else {
      out.as<float>()[i] = float_of(inputs[0]->as<float>(), taps, divisor);
    }
  });
  return {out};
}

/// For a geometry that pool_map() takes.
CountedSpan counted_span(const AvgPool2d& pool, const HostPoolAxis& axis) {
  const Counted positions = counted_positions(pool, axis);
  const int64_t least = std::min(count_of(pool, axis, 0), count_of(pool, axis, axis.out - 1));
  return {static_cast<int16_t>(positions.begin), static_cast<uint16_t>(positions.end), static_cast<uint16_t>(least), 0};
}

PoolCounts counts_of(const AvgPool2d& pool, const PoolGeometry& g) {
  return {counted_span(pool, g.rows), counted_span(pool, g.columns)};
}

/// The divisor of each class of windows, in the order of count_class().
std::vector<int64_t> divisors_of(const AvgPool2d& pool, const PoolMap& map, const PoolCounts& counts) {
  std::vector<int64_t> divisors;
  for (int64_t rows = counts.rows.least; rows <= map.rows.kernel; ++rows) {
    for (int64_t columns = counts.columns.least; columns <= map.columns.kernel; ++columns)
      divisors.push_back(pool.divisor != 0 ? pool.divisor : rows * columns);
  }
  return divisors;
}

template <class T>
BufferId table_of(Lowering& lowering, const NodeTypes& types, const std::vector<T>& values) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return lowering.constant(types.node.name + ".scales", {bytes, bytes + values.size() * sizeof(T)}, 4);
}

/// Padding that counts for nothing needs a scale for each count.
bool table_is_too_large(const PoolMap& map, const PoolCounts& counts) {
  constexpr uint32_t kMaxClasses = 4096;
  return count_classes(map, counts) > kMaxClasses;
}

/// One window, and the map is it.
bool takes_whole_map(const PoolGeometry& g) {
  const auto is_whole = [](const HostPoolAxis& axis) {
    return axis.out == 1 && axis.pad == 0 && axis.kernel == axis.in;
  };
  return g.batch == 1 && is_whole(g.rows) && is_whole(g.columns);
}

std::optional<std::string> lower_int8(const NodeTypes& types, Lowering& lowering, const PoolMap& map) {
  const AvgPool2d& pool = *types.node.as<AvgPool2d>();
  const PoolGeometry g = geometry_of(types);
  const PoolCounts counts = counts_of(pool, g);
  if (table_is_too_large(map, counts)) return kPoolTooLarge;
  const std::vector<int64_t> divisors = divisors_of(pool, map, counts);
  const Quant &in = *types.input(0).quant, &out = *types.output().quant;
  // Without a given divisor no window has more taps than its divisor.
  const int64_t max_taps = pool.divisor != 0 ? g.rows.kernel * g.columns.kernel : divisors.back();
  const AverageScales scales(in, out, max_taps, pool.divisor != 0 ? pool.divisor : max_taps);
  std::vector<AverageScale> table;
  for (const int64_t divisor : divisors) {
    const auto scale = scales.scale(divisor);
    if (!scale) return "average pooling whose sums do not fit 32 bits has no kernel";
    table.push_back(*scale);
  }
  const AvgPool2dParams params = {map,
                                  counts,
                                  static_cast<int32_t>(in.zero_point[0]),
                                  scales.offset(),
                                  {static_cast<int32_t>(out.min), static_cast<int32_t>(out.max)}};
  ProgramStep step = {.family = find_kernel_family("avg_pool2d_s8"),
                      .params = params_bytes(params),
                      .operands = {{table_of(lowering, types, table)}}};
  if (takes_whole_map(g)) {
    AverageScale scale = table.front();
    scale.bias = wrapping_add(scale.bias, -zero_points_of(params, {map.rows.in, map.columns.in, 0}));
    step.row_by_row = mean_rows_step(types, lowering,
                                     {map.rows.in, map.columns.in, map.channels, scale, params.offset, params.range});
    if (step.row_by_row && prefers_mean_rows(lowering)) {
      lowering.emit(in_one_piece(step.row_by_row));
      return std::nullopt;
    }
  }
  emit_pool_steps(types, lowering, g, std::move(step));
  return std::nullopt;
}

std::optional<std::string> lower_float(const NodeTypes& types, Lowering& lowering, const PoolMap& map) {
  const AvgPool2d& pool = *types.node.as<AvgPool2d>();
  const PoolGeometry g = geometry_of(types);
  const AvgPool2dF32Params params = {map, counts_of(pool, g)};
  if (table_is_too_large(map, params.counts)) return kPoolTooLarge;
  std::vector<float> reciprocals;
  for (const int64_t divisor : divisors_of(pool, map, params.counts))
    reciprocals.push_back(1.0f / static_cast<float>(divisor));
  emit_pool_steps(types, lowering, g,
                  {.family = find_kernel_family("avg_pool2d_f32"),
                   .params = params_bytes(params),
                   .operands = {{table_of(lowering, types, reciprocals)}}});
  return std::nullopt;
}

std::optional<std::string> lower(const NodeTypes& types, Lowering& lowering) {
  const AvgPool2d& pool = *types.node.as<AvgPool2d>();
  const TensorType &in = types.input(0), &out = types.output();
  if (pool.layout != "nhwc") return "average pooling in layout " + pool.layout + " has no kernel";
  if (is_quantized_int8(in) && is_quantized_int8(out)) {
    const auto map = pool_map(geometry_of(types), 1);
    return map ? lower_int8(types, lowering, *map) : kPoolTooLarge;
  }
  if (in.dtype != DType::kFloat32) return "average pooling of " + to_string(in) + " has no kernel";
  const auto map = pool_map(geometry_of(types), 4);
  return map ? lower_float(types, lowering, *map) : kPoolTooLarge;
}

}  // namespace

const OpDef avg_pool2d_op = {AvgPool2d::kName,    [] { return Op(AvgPool2d{}); }, infer, evaluate, lower,
                             QuantRule::kRescaled};

const HostKernel avg_pool2d_s8_host = {.contract = &avg_pool2d_s8_contract,
                                       .run = avg_pool2d_s8_scalar,
                                       .packing = {},
                                       .stack_bytes = 352,
                                       .rows_at_once = 1};
const HostKernel avg_pool2d_f32_host = {
    .contract = &avg_pool2d_f32_contract, .run = avg_pool2d_f32_scalar, .packing = {}, .stack_bytes = 320};

}  // namespace rush
