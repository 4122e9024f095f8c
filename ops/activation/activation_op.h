// SPDX-License-Identifier: Apache-2.0
//
// A function of each element by itself, then a clamp. The functions are PyTorch's of the same name; relu and
// hardtanh are clamps. On codes any function is a table of 256 codes.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

namespace rush {

struct Activation {
  static constexpr std::string_view kName = "activation";
  /// "elu", "gelu", "gelu_tanh", "hardsigmoid", "hardswish", "leaky_relu", "log_sigmoid", "mish", "sigmoid", "silu",
  /// "softplus" or "tanh".
  std::string function;
  double alpha = 0;        ///< elu: size of the negative side; leaky_relu: slope there
  double scale = 1;        ///< elu: of the output
  double input_scale = 1;  ///< elu: of the negative side's input; softplus: beta
  double threshold = 20;   ///< softplus: input * beta above which it is the input
  double min = -INFINITY;  ///< clamp of the output
  double max = INFINITY;

  bool operator==(const Activation&) const = default;
  template <class V>
  void visit(V& v) {
    v("function", function);
    v("alpha", alpha);
    v("scale", scale);
    v("input_scale", input_scale);
    v("threshold", threshold);
    v("min", min);
    v("max", max);
  }
};

}  // namespace rush
