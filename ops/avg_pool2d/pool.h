// SPDX-License-Identifier: Apache-2.0
//
// Where pooling windows lie on a map [H,W,C]: shared by maximum and average.
#ifndef RUSHLIGHT_OPS_POOL_H
#define RUSHLIGHT_OPS_POOL_H

#include "rushlight/kernel.h"

namespace rush {

/// Windows along one axis: window i begins at i * stride - pad and has a tap every `dilation` elements.
struct PoolAxis {
  uint16_t in;
  uint16_t out;
  uint16_t kernel;
  uint16_t stride;
  uint16_t pad;
  uint16_t dilation;
};

struct PoolMap {
  Rows in;
  Rows out;
  PoolAxis rows;
  PoolAxis columns;
  uint16_t channels;
  uint16_t reserved;
};

/// The taps of a window that lie on the map: the first, and how many.
struct Taps {
  int32_t first;
  int32_t count;
};

inline int32_t window_begin(const PoolAxis& axis, int32_t i) { return i * axis.stride - axis.pad; }

/// Not inlined: kernels would keep the state of its loops on their stacks.
[[gnu::noinline]] inline Taps taps_inside(const PoolAxis& axis, int32_t i) {
  Taps taps = {window_begin(axis, i), axis.kernel};
  if (taps.first >= 0 && taps.first + (taps.count - 1) * axis.dilation < axis.in) return taps;
  for (; taps.count > 0 && taps.first < 0; --taps.count) taps.first += axis.dilation;
  while (taps.count > 0 && taps.first + (taps.count - 1) * axis.dilation >= axis.in) --taps.count;
  return taps;
}

/// Taps of one window: `rows` rows of `columns` taps that are `step` elements apart.
struct TapGrid {
  int32_t rows;
  int32_t columns;
  int32_t step;
};

/// The part of a window that lies on the map, and the output pixel that it is for.
template <class T>
struct PoolWindow {
  const PoolMap* map;
  int32_t y;
  int32_t x;
  TapGrid grid;
  int32_t first_row;
  const T* column;  ///< the first tap's place in row 0

  /// Where the r-th row of taps begins.
  const T* row(int32_t r) const {
    return column + row_offset(map->in, static_cast<uint32_t>(first_row + r * map->rows.dilation)) / sizeof(T);
  }
};

/// Calls visit(window, out) for each output pixel of a band, in order.
template <class T, class Visit>
inline void each_window(const PoolMap& map, const T* in, T* out, Band band, Visit visit) {
  PoolWindow<T> window = {&map, band.begin, 0, {0, 0, map.columns.dilation * map.channels}, 0, in};
  for (; window.y < band.end; ++window.y) {
    const Taps rows = taps_inside(map.rows, window.y);
    window.first_row = rows.first;
    window.grid.rows = rows.count;
    T* pixel = out + row_offset(map.out, static_cast<uint32_t>(window.y)) / sizeof(T);
    for (window.x = 0; window.x < map.columns.out; ++window.x) {
      const Taps columns = taps_inside(map.columns, window.x);
      window.column = in + columns.first * map.channels;
      window.grid.columns = columns.count;
      visit(window, pixel);
      pixel += map.channels;
    }
  }
}

/// For extents(): every window begins before the end of the map, no position leaves 17 bits, and no tap is read twice.
inline bool axis_holds(const PoolAxis& a) {
  if (a.out == 0 || a.stride == 0 || a.dilation == 0) return false;
  if (static_cast<uint32_t>(a.kernel) * a.dilation > 0x7fffu || a.pad > 0x7fffu || a.in > 0x7fffu) return false;
  return static_cast<uint32_t>(a.out - 1) * a.stride < static_cast<uint32_t>(a.in) + a.pad;
}

/// Also for extents(): sets the bytes of in and out, unless one of them does not hold.
inline bool pool_extents(const PoolMap& map, uint32_t element_bytes, uint32_t* in, uint32_t* out) {
  if (!axis_holds(map.rows) || !axis_holds(map.columns)) return false;
  const uint32_t pixel = map.channels * element_bytes;
  return map_holds(map.in, map.rows.in, saturating_multiply(map.columns.in, pixel), in) &&
         map_holds(map.out, map.rows.out, saturating_multiply(map.columns.out, pixel), out);
}

}  // namespace rush
#endif
