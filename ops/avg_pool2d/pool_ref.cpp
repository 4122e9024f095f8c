// SPDX-License-Identifier: Apache-2.0
#include "ops/avg_pool2d/pool_ref.h"

#include <algorithm>
#include <cstddef>

#include "ops/node_error.h"

namespace rush {
namespace {

/// PyTorch's size: rounded up in ceil mode, but every window begins inside the map or the padding before it.
int64_t output_size(const HostPoolAxis& axis, bool ceil_mode) {
  const int64_t room = axis.in + axis.pad + axis.pad_after - axis.span();
  if (room < 0 && !(ceil_mode && room + axis.stride > 0)) return 0;
  int64_t size = (room + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
  if (ceil_mode && (size - 1) * axis.stride >= axis.in + axis.pad) --size;
  return size;
}

HostPoolAxis axis_of(int64_t in, size_t i, const PoolAttributes& a) {
  HostPoolAxis axis{in, 0, a.kernel[i], a.stride[i], a.padding[2 * i], a.padding[2 * i + 1], a.dilation[i]};
  axis.out = output_size(axis, a.ceil_mode);
  return axis;
}

bool all_in(const std::vector<int64_t>& values, size_t count, int64_t low) {
  constexpr int64_t kHigh = 1 << 24;
  return values.size() == count && std::ranges::all_of(values, [&](int64_t v) { return v >= low && v < kHigh; });
}

bool pads_less_than_window(const HostPoolAxis& axis) { return axis.pad < axis.span() && axis.pad_after < axis.span(); }

std::optional<PoolAxis> device_axis(const HostPoolAxis& a) {
  for (const int64_t value : {a.in, a.out, a.kernel, a.stride, a.pad, a.dilation}) {
    if (value > 0xffff) return std::nullopt;
  }
  const PoolAxis axis = {static_cast<uint16_t>(a.in),     static_cast<uint16_t>(a.out),
                         static_cast<uint16_t>(a.kernel), static_cast<uint16_t>(a.stride),
                         static_cast<uint16_t>(a.pad),    static_cast<uint16_t>(a.dilation)};
  return axis_holds(axis) ? std::optional(axis) : std::nullopt;
}

}  // namespace

Shape PoolGeometry::output_shape() const {
  return is_nhwc ? Shape{batch, rows.out, columns.out, channels} : Shape{batch, channels, rows.out, columns.out};
}

int64_t PoolGeometry::input_index(int64_t n, int64_t y, int64_t x, int64_t c) const {
  return is_nhwc ? ((n * rows.in + y) * columns.in + x) * channels + c
                 : ((n * channels + c) * rows.in + y) * columns.in + x;
}

PoolGeometry pool_geometry(const NodeTypes& types, const PoolAttributes& a) {
  const Shape& in = types.input(0).shape;
  if (in.size() != 4) throw damaged_node(types, "pooling needs an input of rank 4");
  if (!all_in(a.kernel, 2, 1) || !all_in(a.stride, 2, 1) || !all_in(a.dilation, 2, 1) || !all_in(a.padding, 4, 0))
    throw damaged_node(types, "a kernel, stride, dilation or padding is out of range");
  const bool is_nhwc = a.layout == "nhwc";
  const PoolGeometry geometry = {.batch = in[0],
                                 .channels = is_nhwc ? in[3] : in[1],
                                 .rows = axis_of(is_nhwc ? in[1] : in[2], 0, a),
                                 .columns = axis_of(is_nhwc ? in[2] : in[3], 1, a),
                                 .is_nhwc = is_nhwc};
  if (!pads_less_than_window(geometry.rows) || !pads_less_than_window(geometry.columns))
    throw damaged_node(types, "the padding is as large as the window");
  if (geometry.rows.out < 1 || geometry.columns.out < 1)
    throw damaged_node(types, "the window is larger than the padded map");
  return geometry;
}

std::optional<PoolMap> pool_map(const PoolGeometry& geometry, uint32_t element_bytes) {
  const auto rows = device_axis(geometry.rows), columns = device_axis(geometry.columns);
  if (!rows || !columns || geometry.channels > 0xffff) return std::nullopt;
  const uint32_t pixel_bytes = static_cast<uint32_t>(geometry.channels) * element_bytes;
  const PoolMap map = {.in = whole_map(columns->in * pixel_bytes, rows->in),
                       .out = whole_map(columns->out * pixel_bytes, rows->out),
                       .rows = *rows,
                       .columns = *columns,
                       .channels = static_cast<uint16_t>(geometry.channels),
                       .reserved = 0};
  uint32_t in = 0, out = 0;
  return pool_extents(map, element_bytes, &in, &out) ? std::optional(map) : std::nullopt;
}

void emit_pool_steps(const NodeTypes& types, Lowering& lowering, const PoolGeometry& g, ProgramStep step) {
  const BufferId in = lowering.buffer(types.node.inputs[0]), out = lowering.buffer(types.node.out());
  const uint32_t in_bytes = lowering.program()[in].bytes / static_cast<uint32_t>(g.batch);
  const uint32_t out_bytes = lowering.program()[out].bytes / static_cast<uint32_t>(g.batch);
  const auto last = static_cast<int>(step.operands.size()) + 1;
  step.rows = static_cast<uint16_t>(g.rows.out);
  step.operands.insert(step.operands.begin(), OperandRef{in});
  step.operands.push_back({out});
  // Without padding before them, windows begin at or after the output that they are for.
  if (g.rows.pad == 0 && g.columns.pad == 0) step.in_place = {{0, last}};
  if (g.batch == 1) {
    const auto stride = static_cast<int>(g.rows.stride), span = static_cast<int>(g.rows.span());
    step.row_dependencies = {
        {.operand = 0, .stride = stride, .lead = span - stride - static_cast<int>(g.rows.pad), .span = span}};
    step.rows_field.assign(step.operands.size(), -1);
    step.rows_field.front() = offsetof(PoolMap, in);
    step.rows_field.back() = offsetof(PoolMap, out);
  }
  for (int64_t n = 0; n < g.batch; ++n) {
    step.operands.front().offset = static_cast<uint32_t>(n) * in_bytes;
    step.operands.back().offset = static_cast<uint32_t>(n) * out_bytes;
    lowering.emit(step);
  }
}

}  // namespace rush
