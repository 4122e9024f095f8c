// SPDX-License-Identifier: Apache-2.0
//
// (x - mean) / sqrt(var + eps) * weight + bias, over axis 1. Inputs: x, weight, bias (each may be missing), mean, var.
//
// Exists in the torch stage only: fold_batch_norm() removes it.
#pragma once

#include <string_view>

namespace rush {

struct BatchNorm {
  static constexpr std::string_view kName = "batch_norm";
  double eps = 1e-5;

  bool operator==(const BatchNorm&) const = default;
  template <class V>
  void visit(V& v) {
    v("eps", eps);
  }
};

}  // namespace rush
