// SPDX-License-Identifier: Apache-2.0
//
// out.shape[k] = x.shape[axes[k]].
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rush {

struct Permute {
  static constexpr std::string_view kName = "permute";
  std::vector<int64_t> axes;

  bool operator==(const Permute&) const = default;
  template <class V>
  void visit(V& v) {
    v("axes", axes);
  }
};

}  // namespace rush
