// SPDX-License-Identifier: Apache-2.0
//
// Constant padding: amounts are before and after for each axis, first axis first.
//
// Quantized: one quant on both sides, the value becomes the nearest code.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rush {

struct Pad {
  static constexpr std::string_view kName = "pad";
  std::vector<int64_t> amounts;
  double value = 0;

  bool operator==(const Pad&) const = default;
  template <class V>
  void visit(V& v) {
    v("amounts", amounts);
    v("value", value);
  }
};

}  // namespace rush
