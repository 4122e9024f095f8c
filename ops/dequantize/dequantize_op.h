// SPDX-License-Identifier: Apache-2.0
//
// int8 (or int32) to float32: (code - zero_point) * scale. The parameters are the input type's quant.
#pragma once

#include <string_view>

namespace rush {

struct Dequantize {
  static constexpr std::string_view kName = "dequantize";

  bool operator==(const Dequantize&) const = default;
  template <class V>
  void visit(V&) {}
};

}  // namespace rush
