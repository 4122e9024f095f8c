// SPDX-License-Identifier: Apache-2.0
//
// Means of codes on the host: the definition, and the scales that make the device compute it.
#pragma once

#include <cstdint>
#include <optional>

#include "compiler/ir/tensor.h"
#include "ops/avg_pool2d/average.h"

namespace rush {

/// The code of sum / divisor, where `sum` is a sum of codes less their zero points. One rounding, half up: exact where
/// input and output have one scale, a requantization by in.scale / (out.scale * divisor) where not.
int64_t mean_code(int64_t sum, int64_t divisor, const Quant& in, const Quant& out);

/// Scales for windows of at most `max_taps` taps and divisors of at least `least_divisor`.
class AverageScales {
 public:
  AverageScales(const Quant& in, const Quant& out, int64_t max_taps, int64_t least_divisor);

  /// Null if a sum could overflow: an output scale 2^20 times finer than the input's, or 2^19 taps.
  std::optional<AverageScale> scale(int64_t divisor) const;
  /// What the kernel adds to the mean.
  int32_t offset() const { return offset_; }

 private:
  double ratio_;
  int64_t max_sum_;
  int64_t bias_codes_;  ///< makes sums of exact means positive
  int32_t offset_;
};

}  // namespace rush
