// SPDX-License-Identifier: Apache-2.0
//
// out = clamp(a + alpha * b), with NumPy broadcasting. Subtraction is alpha = -1.
//
// Quantized: a, b and output int8 per tensor, each with its own scale and zero point.
#pragma once

#include <cmath>
#include <string_view>

namespace rush {

struct Add {
  static constexpr std::string_view kName = "add";
  double alpha = 1;
  double min = -INFINITY;  ///< fused clamp of the real output
  double max = INFINITY;

  bool operator==(const Add&) const = default;
  template <class V>
  void visit(V& v) {
    v("alpha", alpha);
    v("min", min);
    v("max", max);
  }
};

}  // namespace rush
