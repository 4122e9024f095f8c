// SPDX-License-Identifier: Apache-2.0
//
// Pools and means. 1-D pools become 2-D ones of height 1.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "compiler/import/aten_map.h"
#include "ops/avg_pool2d/avg_pool2d_op.h"
#include "ops/max_pool2d/max_pool2d_op.h"
#include "ops/mean/mean_op.h"

namespace rush {
namespace {

struct Windows {
  std::vector<int64_t> kernel, stride, padding;
};

void check_windows(Call& call, const Windows& windows) {
  for (size_t i = 0; i < windows.kernel.size(); ++i) {
    if (windows.kernel[i] < 1 || windows.stride[i] < 1)
      call.fail(fmt::format("kernel {} and stride {} must be positive", to_string(windows.kernel),
                            to_string(windows.stride)));
    if (windows.padding[i] < 0) call.fail(fmt::format("padding {} is negative", to_string(windows.padding)));
    if (windows.padding[i] > windows.kernel[i] / 2)
      call.fail(fmt::format("padding {} is more than half of the kernel {}", to_string(windows.padding),
                            to_string(windows.kernel)));
  }
}

Windows windows_of(Call& call, size_t spatial) {
  Windows windows{call.expanded("kernel_size", spatial), call.integers("stride", std::vector<int64_t>{}),
                  call.expanded("padding", spatial, 0)};
  windows.stride = windows.stride.empty() ? windows.kernel : call.expanded("stride", spatial);
  check_windows(call, windows);
  return windows;
}

/// One value a spatial axis -> height and width.
std::vector<int64_t> planar(std::vector<int64_t> values, int64_t height) {
  if (values.size() == 1) values.insert(values.begin(), height);
  return values;
}

std::vector<int64_t> four_sided(const std::vector<int64_t>& padding) {
  const std::vector<int64_t> both = planar(padding, 0);
  return {both[0], both[0], both[1], both[1]};
}

TensorId map_argument(Call& call, size_t spatial) {
  const TensorId x = call.tensor("self");
  if (call.rank(x) != spatial + 2)
    call.fail(fmt::format("input {} has rank {}, expected {}", to_string(call.type(x)), call.rank(x), spatial + 2),
              "keep the batch dimension: x.unsqueeze(0)");
  return spatial == 1 ? call.to_map(x) : x;
}

void finish_pool(Call& call, Op op, TensorId map, size_t spatial) {
  const TensorId pooled = call.step(std::move(op), {map});
  spatial == 1 ? call.finish_map(pooled) : call.result(pooled);
}

void translate_average_pool(Call& call, size_t spatial) {
  const Windows windows = windows_of(call, spatial);
  const AvgPool2d pool{.kernel = planar(windows.kernel, 1),
                       .stride = planar(windows.stride, 1),
                       .padding = four_sided(windows.padding),
                       .ceil_mode = call.flag("ceil_mode", false),
                       .count_include_pad = call.flag("count_include_pad", true),
                       .divisor = call.integer("divisor_override", 0)};
  if (pool.divisor < 0) call.fail(fmt::format("divisor_override {} is negative", pool.divisor));
  finish_pool(call, pool, map_argument(call, spatial), spatial);
}

void translate_max_pool(Call& call, size_t spatial) {
  const Windows windows = windows_of(call, spatial);
  const auto dilation = call.expanded("dilation", spatial, 1);
  if (std::ranges::min(dilation) < 1) call.fail(fmt::format("dilation {} must be positive", to_string(dilation)));
  const MaxPool2d pool{.kernel = planar(windows.kernel, 1),
                       .stride = planar(windows.stride, 1),
                       .padding = four_sided(windows.padding),
                       .dilation = planar(dilation, 1),
                       .ceil_mode = call.flag("ceil_mode", false)};
  finish_pool(call, pool, map_argument(call, spatial), spatial);
}

struct Window {
  int64_t kernel, stride;
};

/// PyTorch's window i is [floor(i*in/out), ceil((i+1)*in/out)): one kernel and stride for all, or nothing.
std::optional<Window> uniform_window(int64_t in, int64_t out) {
  auto start = [&](int64_t i) { return i * in / out; };
  auto end = [&](int64_t i) { return ((i + 1) * in + out - 1) / out; };
  const Window window{end(0), out == 1 ? in : start(1)};
  for (int64_t i = 0; i < out; ++i) {
    if (start(i) != i * window.stride || end(i) - start(i) != window.kernel) return std::nullopt;
  }
  return window;
}

void translate_adaptive_pool(Call& call, size_t spatial) {
  const TensorId map = map_argument(call, spatial);
  const auto sizes = planar(call.expanded("output_size", spatial), 1);
  AvgPool2d pool;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t in = call.shape(map)[i + 2];
    if (sizes[i] < 1 || sizes[i] > in) call.fail(fmt::format("output_size {} does not fit", to_string(sizes)));
    const std::optional<Window> window = uniform_window(in, sizes[i]);
    if (!window) call.unsupported(fmt::format("adaptive pooling of {} to {}, windows of unequal size,", in, sizes[i]));
    pool.kernel[i] = window->kernel;
    pool.stride[i] = window->stride;
  }
  if (sizes[0] == 1 && sizes[1] == 1)
    finish_pool(call, Mean{{2, 3}, true}, map, spatial);
  else
    finish_pool(call, pool, map, spatial);
}

/// Given axes in ascending order, all of them if none are given.
std::vector<int64_t> mean_axes(Call& call, size_t rank) {
  std::vector<int64_t> axes = call.axes("dim", rank);
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  std::ranges::sort(axes);
  if (std::ranges::adjacent_find(axes) != axes.end()) call.fail("an axis appears twice in dim");
  return axes;
}

void check_float32_result(Call& call) {
  if (call.has("dtype") && call.dtype("dtype") != DType::kFloat32) call.unsupported("a result type other than float32");
}

void translate_mean(Call& call) {
  const TensorId x = call.tensor("self");
  const Mean mean{mean_axes(call, call.rank(x)), call.flag("keepdim", false)};
  check_float32_result(call);
  const bool over_line = call.rank(x) == 3 && call.has_map(x) && mean.axes == std::vector<int64_t>{2};
  if (!over_line)
    call.finish(mean, {x});
  else if (mean.keepdim)
    call.finish_map(call.step(Mean{{2, 3}, true}, {call.to_map(x)}));
  else
    call.finish(Mean{{2, 3}, false}, {call.to_map(x)});
}

void translate_avg_pool1d(Call& call) { translate_average_pool(call, 1); }
void translate_avg_pool2d(Call& call) { translate_average_pool(call, 2); }
void translate_max_pool1d(Call& call) { translate_max_pool(call, 1); }
void translate_max_pool2d(Call& call) { translate_max_pool(call, 2); }
void translate_adaptive_pool1d(Call& call) { translate_adaptive_pool(call, 1); }
void translate_adaptive_pool2d(Call& call) { translate_adaptive_pool(call, 2); }

constexpr auto kOperators = std::to_array<AtenOperator>({
    {"aten.avg_pool1d.default", translate_avg_pool1d, &avg_pool2d_op},
    {"aten.avg_pool2d.default", translate_avg_pool2d, &avg_pool2d_op},
    {"aten.max_pool1d.default", translate_max_pool1d, &max_pool2d_op},
    {"aten.max_pool2d.default", translate_max_pool2d, &max_pool2d_op},
    {"aten.max_pool1d_with_indices.default", translate_max_pool1d, &max_pool2d_op},
    {"aten.max_pool2d_with_indices.default", translate_max_pool2d, &max_pool2d_op},
    {"aten.adaptive_avg_pool1d.default", translate_adaptive_pool1d, &avg_pool2d_op},
    {"aten.adaptive_avg_pool2d.default", translate_adaptive_pool2d, &avg_pool2d_op},
    {"aten._adaptive_avg_pool2d.default", translate_adaptive_pool2d, &avg_pool2d_op},
    {"aten.mean.default", translate_mean, &mean_op},
    {"aten.mean.dim", translate_mean, &mean_op},
});

}  // namespace

std::span<const AtenOperator> pooling_operators() { return kOperators; }

}  // namespace rush
