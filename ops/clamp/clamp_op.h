// SPDX-License-Identifier: Apache-2.0
//
// min(max(x, min), max) on real values. Quantized: one quant on both sides.
#pragma once

#include <cmath>
#include <string_view>

namespace rush {

struct Clamp {
  static constexpr std::string_view kName = "clamp";
  double min = -INFINITY;
  double max = INFINITY;

  bool operator==(const Clamp&) const = default;
  template <class V>
  void visit(V& v) {
    v("min", min);
    v("max", max);
  }
};

}  // namespace rush
