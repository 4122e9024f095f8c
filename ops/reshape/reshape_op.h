// SPDX-License-Identifier: Apache-2.0
//
// Same elements in row-major order, another shape (fully known).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rush {

struct Reshape {
  static constexpr std::string_view kName = "reshape";
  std::vector<int64_t> shape;

  bool operator==(const Reshape&) const = default;
  template <class V>
  void visit(V& v) {
    v("shape", shape);
  }
};

}  // namespace rush
