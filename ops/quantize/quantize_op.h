// SPDX-License-Identifier: Apache-2.0
//
// float32 to int8: clamp(round_half_even(x * (1/scale)) + zero_point), in float32 as PyTorch does it.
//
// The parameters are the output type's quant, per tensor or per channel.
#pragma once

#include <string_view>

namespace rush {

struct Quantize {
  static constexpr std::string_view kName = "quantize";

  bool operator==(const Quantize&) const = default;
  template <class V>
  void visit(V&) {}
};

}  // namespace rush
