// SPDX-License-Identifier: Apache-2.0
//
// Mean over windows of a map. layout as conv2d's.
//
// The divisor is `divisor` if not 0; else the window's taps inside the map, plus those in the padding where
// count_include_pad. What a ceil_mode window reaches beyond map and padding never counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rush {

struct AvgPool2d {
  static constexpr std::string_view kName = "avg_pool2d";
  std::vector<int64_t> kernel{1, 1};
  std::vector<int64_t> stride{1, 1};
  std::vector<int64_t> padding{0, 0, 0, 0};  ///< top, bottom, left, right
  bool ceil_mode = false;
  bool count_include_pad = true;
  int64_t divisor = 0;
  std::string layout = "nchw";

  bool operator==(const AvgPool2d&) const = default;
  template <class V>
  void visit(V& v) {
    v("kernel", kernel);
    v("stride", stride);
    v("padding", padding);
    v("ceil_mode", ceil_mode);
    v("count_include_pad", count_include_pad);
    v("divisor", divisor);
    v("layout", layout);
  }
};

}  // namespace rush
