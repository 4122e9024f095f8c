// SPDX-License-Identifier: Apache-2.0
//
// Random numbers that are the same on every machine for one seed (the standard's distributions are not).
#pragma once

#include <cstdint>
#include <random>

namespace rush {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  /// Uniform in [low, high].
  int64_t integer(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(engine_() % static_cast<uint64_t>(high - low + 1));
  }
  /// Uniform in [low, high).
  double real(double low, double high) {
    return low + (high - low) * (static_cast<double>(engine_() >> 11) / 9007199254740992.0);
  }
  bool chance(double probability) { return real(0, 1) < probability; }
  template <class Container>
  auto pick(const Container& values) {
    return *(values.begin() + integer(0, static_cast<int64_t>(values.size()) - 1));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace rush
