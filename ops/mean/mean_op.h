// SPDX-License-Identifier: Apache-2.0
//
// Mean over axes (non-negative, ascending).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rush {

struct Mean {
  static constexpr std::string_view kName = "mean";
  std::vector<int64_t> axes;
  bool keepdim = false;

  bool operator==(const Mean&) const = default;
  template <class V>
  void visit(V& v) {
    v("axes", axes);
    v("keepdim", keepdim);
  }
};

}  // namespace rush
