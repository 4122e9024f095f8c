// SPDX-License-Identifier: Apache-2.0
//
// A walk over windows that lists the taps of a whole row of them once: the windows that lie between the map's left and
// right side are all alike, and looking for each one's taps would cost more than adding them up.
#ifndef RUSHLIGHT_OPS_MAX_POOL2D_WALK_MVE_H
#define RUSHLIGHT_OPS_MAX_POOL2D_WALK_MVE_H

#include <arm_mve.h>

#include "../avg_pool2d/pool.h"

namespace rush {

enum { kListedTaps = 32 };

/// Bytes from a window's first column to each of its taps.
struct TapList {
  uint32_t count;
  uint32_t offset[kListedTaps];
};

inline void list_taps(const PoolMap& map, const Taps& rows, TapList* list) {
  list->count = 0;
#pragma GCC unroll 1
  for (int32_t r = 0; r < rows.count; ++r) {
    uint32_t offset = row_offset(map.in, static_cast<uint32_t>(rows.first + r * map.rows.dilation));
#pragma GCC unroll 1
    for (int32_t left = map.columns.kernel; left > 0; --left) {
      list->offset[list->count++] = offset;
      offset += static_cast<uint32_t>(map.columns.dilation) * map.channels;
    }
  }
}

/// Calls listed(list, column, out) for windows whose columns all lie on the map, where `column` is the first one's
/// place in row 0, and visit(window, out) for all others.
template <class Listed, class Visit>
inline void each_window_listed(const PoolMap& map, const int8_t* in, int8_t* out, Band band, Listed listed,
                               Visit visit) {
  PoolWindow<int8_t> window = {&map, band.begin, 0, {0, 0, map.columns.dilation * map.channels}, 0, in};
  TapList list;
  const int32_t reach = (map.columns.kernel - 1) * map.columns.dilation;
  for (; window.y < band.end; ++window.y) {
    const Taps rows = taps_inside(map.rows, window.y);
    window.first_row = rows.first;
    window.grid.rows = rows.count;
    const bool is_listed = rows.count * map.columns.kernel <= kListedTaps;
    if (is_listed) list_taps(map, rows, &list);
    int8_t* pixel = out + row_offset(map.out, static_cast<uint32_t>(window.y));
    for (window.x = 0; window.x < map.columns.out; ++window.x) {
      const int32_t first = window_begin(map.columns, window.x);
      if (is_listed && first >= 0 && first + reach < map.columns.in) {
        listed(list, in + first * map.channels, pixel);
      } else {
        const Taps columns = taps_inside(map.columns, window.x);
        window.column = in + columns.first * map.channels;
        window.grid.columns = columns.count;
        visit(window, pixel);
      }
      pixel += map.channels;
    }
  }
}

}  // namespace rush
#endif
