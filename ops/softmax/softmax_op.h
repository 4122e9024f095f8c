// SPDX-License-Identifier: Apache-2.0
//
// exp(x - max) / sum over one axis (non-negative).
#pragma once

#include <cstdint>
#include <string_view>

namespace rush {

struct Softmax {
  static constexpr std::string_view kName = "softmax";
  int64_t axis = 0;

  bool operator==(const Softmax&) const = default;
  template <class V>
  void visit(V& v) {
    v("axis", axis);
  }
};

}  // namespace rush
