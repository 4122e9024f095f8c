// SPDX-License-Identifier: Apache-2.0
//
// Maximum over windows of a map; padding never wins. layout as conv2d's. Quantized: one quant on both sides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rush {

struct MaxPool2d {
  static constexpr std::string_view kName = "max_pool2d";
  std::vector<int64_t> kernel{1, 1};
  std::vector<int64_t> stride{1, 1};
  std::vector<int64_t> padding{0, 0, 0, 0};  ///< top, bottom, left, right
  std::vector<int64_t> dilation{1, 1};
  bool ceil_mode = false;
  std::string layout = "nchw";

  bool operator==(const MaxPool2d&) const = default;
  template <class V>
  void visit(V& v) {
    v("kernel", kernel);
    v("stride", stride);
    v("padding", padding);
    v("dilation", dilation);
    v("ceil_mode", ceil_mode);
    v("layout", layout);
  }
};

}  // namespace rush
