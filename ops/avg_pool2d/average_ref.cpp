// SPDX-License-Identifier: Apache-2.0
//
// docs/arithmetic.md has the proofs.
#include "ops/avg_pool2d/average_ref.h"

#include <algorithm>
#include <bit>

#include "ops/program.h"

namespace rush {
namespace {

constexpr int64_t kMaxCode = 255;                         // the largest |code - zero point|
constexpr int64_t kMaxExactSum = (int64_t(1) << 29) - 1;  // with its bias; shifted left by two it fits 32 bits
constexpr int kExactLeft = 2;

int64_t floor_divided(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t ceil_divided(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// sum + bias is positive, and its quotient by the divisor rounded down is the mean rounded half up, plus bias_codes:
/// with 2^k the least power of two not below the divisor, multiplier = ceil(2^(30 + k) / divisor).
AverageScale exact_scale(int64_t divisor, int64_t bias_codes) {
  const int k = std::bit_width(static_cast<uint64_t>(divisor - 1));
  const int64_t multiplier = ceil_divided(int64_t(1) << (30 + k), divisor);
  return {.multiplier = static_cast<int32_t>(multiplier),
          .bias = static_cast<int32_t>(bias_codes * divisor + divisor / 2),
          .round = 0,
          .left = kExactLeft,
          .shift = static_cast<uint8_t>(k),
          .reserved = 0};
}

}  // namespace

int64_t mean_code(int64_t sum, int64_t divisor, const Quant& in, const Quant& out) {
  const double ratio = in.scale[0] / out.scale[0];
  if (ratio == 1) return floor_divided(2 * sum + divisor, 2 * divisor) + out.zero_point[0];
  const auto m = quantize_multiplier(ratio / static_cast<double>(divisor));
  if (!m) return sum * (int64_t(1) << 30);  // any sum but 0 saturates
  return requantize_any(static_cast<int32_t>(sum), m->multiplier, m->shift) + out.zero_point[0];
}

AverageScales::AverageScales(const Quant& in, const Quant& out, int64_t max_taps, int64_t least_divisor)
    : ratio_(in.scale[0] / out.scale[0]),
      max_sum_(kMaxCode * max_taps),
      bias_codes_(ratio_ == 1 ? ceil_divided(max_sum_, least_divisor) : 0),
      offset_(static_cast<int32_t>(std::clamp<int64_t>(out.zero_point[0] - bias_codes_, INT32_MIN, INT32_MAX))) {}

std::optional<AverageScale> AverageScales::scale(int64_t divisor) const {
  if (ratio_ == 1) {
    if (max_sum_ + bias_codes_ * divisor + divisor / 2 > kMaxExactSum) return std::nullopt;
    return exact_scale(divisor, bias_codes_);
  }
  const auto m = quantize_multiplier(ratio_ / static_cast<double>(divisor));
  if (!m) return std::nullopt;
  const int left = std::max(0, 1 - m->shift), shift = std::max(1, m->shift);
  if (max_sum_ > INT32_MAX >> left) return std::nullopt;
  return AverageScale{.multiplier = m->multiplier,
                      .bias = 0,
                      .round = int32_t(1) << (shift - 1),
                      .left = static_cast<uint8_t>(left),
                      .shift = static_cast<uint8_t>(shift),
                      .reserved = 0};
}

}  // namespace rush
