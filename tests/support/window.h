// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/program.h"

namespace rush {

/// Output row y reads rows [y * stride - pad, y * stride - pad + size) of its input, where they exist.
struct Window {
  int size = 1;
  int stride = 1;
  int pad = 0;

  int rows_out(int rows) const { return (rows + 2 * pad - size) / stride + 1; }
  RowDependency dependency(int operand) const { return {operand, stride, size - stride - pad, size}; }
};

}  // namespace rush
