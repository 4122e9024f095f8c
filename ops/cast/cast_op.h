// SPDX-License-Identifier: Apache-2.0
//
// Conversion to another element type. Exists in the torch stage only: remove_casts() removes it.
#pragma once

#include <string>
#include <string_view>

namespace rush {

struct Cast {
  static constexpr std::string_view kName = "cast";
  std::string dtype = "float32";

  bool operator==(const Cast&) const = default;
  template <class V>
  void visit(V& v) {
    v("dtype", dtype);
  }
};

}  // namespace rush
