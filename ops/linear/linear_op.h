// SPDX-License-Identifier: Apache-2.0
//
// out[..., o] = clamp(sum_k x[..., k] * weight[o, k] + bias[o]).
//
// Inputs: x [..., K], weight [O, K], bias [O] (may be missing). Quantized: as conv2d.
#pragma once

#include <cmath>
#include <string_view>

namespace rush {

struct Linear {
  static constexpr std::string_view kName = "linear";
  double min = -INFINITY;  ///< fused clamp of the real output
  double max = INFINITY;

  bool operator==(const Linear&) const = default;
  template <class V>
  void visit(V& v) {
    v("min", min);
    v("max", max);
  }
};

}  // namespace rush
