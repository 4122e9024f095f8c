// SPDX-License-Identifier: Apache-2.0
//
// int8 to int8 with another scale and zero point: what a dequantize followed by a quantize does, clamped.
#pragma once

#include <cmath>
#include <string_view>

namespace rush {

struct Rescale {
  static constexpr std::string_view kName = "rescale";
  double min = -INFINITY;  ///< clamp of the real output
  double max = INFINITY;

  bool operator==(const Rescale&) const = default;
  template <class V>
  void visit(V& v) {
    v("min", min);
    v("max", max);
  }
};

}  // namespace rush
