// SPDX-License-Identifier: Apache-2.0
//
// Pooling geometry on the host, for both poolings: types, windows, and the device's PoolMap.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ops/avg_pool2d/pool.h"
#include "ops/op_def.h"

namespace rush {

/// The attributes that both poolings have.
struct PoolAttributes {
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride;
  std::vector<int64_t> padding;
  std::vector<int64_t> dilation;
  bool ceil_mode;
  std::string layout;
};

/// One axis; window i begins at i * stride - pad.
struct HostPoolAxis {
  int64_t in;
  int64_t out;
  int64_t kernel;
  int64_t stride;
  int64_t pad;
  int64_t pad_after;
  int64_t dilation;
  int64_t span() const { return (kernel - 1) * dilation + 1; }
};

struct PoolGeometry {
  int64_t batch;
  int64_t channels;
  HostPoolAxis rows;
  HostPoolAxis columns;
  bool is_nhwc;

  Shape output_shape() const;
  /// Index of an element of the input; for the output, with its rows and columns.
  int64_t input_index(int64_t n, int64_t y, int64_t x, int64_t c) const;
};

/// From the node's input, or a UserError. Every padding is smaller than its window.
PoolGeometry pool_geometry(const NodeTypes& types, const PoolAttributes& attributes);

/// Why pool_map() has none.
inline const std::string kPoolTooLarge = "pooling over so large a map or window has no kernel";

/// The device's view of one image, elements of `element_bytes`; null if a size is beyond it.
std::optional<PoolMap> pool_map(const PoolGeometry& geometry, uint32_t element_bytes);

/// A step for each image: operands {in, tables..., out}. `step` has family, params and the tables.
void emit_pool_steps(const NodeTypes& types, Lowering& lowering, const PoolGeometry& geometry, ProgramStep step);

/// Calls visit(out index, taps' input indices) for each output element, in the output's order.
template <class Visit>
void each_pool_window(const PoolGeometry& g, Visit visit) {
  const Shape shape = g.output_shape();
  std::vector<int64_t> taps;
  for (int64_t i = 0; i < element_count(shape); ++i) {
    const int64_t d3 = i % shape[3], d2 = i / shape[3] % shape[2], d1 = i / shape[3] / shape[2] % shape[1];
    const int64_t n = i / shape[3] / shape[2] / shape[1];
    const int64_t y = g.is_nhwc ? d1 : d2, x = g.is_nhwc ? d2 : d3, c = g.is_nhwc ? d3 : d1;
    taps.clear();
    for (int64_t ky = 0; ky < g.rows.kernel; ++ky) {
      for (int64_t kx = 0; kx < g.columns.kernel; ++kx) {
        const int64_t row = y * g.rows.stride - g.rows.pad + ky * g.rows.dilation;
        const int64_t column = x * g.columns.stride - g.columns.pad + kx * g.columns.dilation;
        if (row < 0 || row >= g.rows.in || column < 0 || column >= g.columns.in) continue;
        taps.push_back(g.input_index(n, row, column, c));
      }
    }
    visit(i, y, x, taps);
  }
}

}  // namespace rush
