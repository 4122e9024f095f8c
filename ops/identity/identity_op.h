// SPDX-License-Identifier: Apache-2.0
//
// out = x: dropout in eval mode, clone, detach, alias. `what` is the exported operator's name.
#pragma once

#include <string>
#include <string_view>

namespace rush {

struct Identity {
  static constexpr std::string_view kName = "identity";
  std::string what = "clone";

  bool operator==(const Identity&) const = default;
  template <class V>
  void visit(V& v) {
    v("what", what);
  }
};

}  // namespace rush
