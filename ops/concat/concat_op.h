// SPDX-License-Identifier: Apache-2.0
//
// Inputs one behind the other along an axis (non-negative). Quantized: each input has its own quant.
#pragma once

#include <cstdint>
#include <string_view>

namespace rush {

struct Concat {
  static constexpr std::string_view kName = "concat";
  int64_t axis = 0;

  bool operator==(const Concat&) const = default;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
  }
};

}  // namespace rush
