// SPDX-License-Identifier: Apache-2.0
//
// An attacker's parameters: whatever extents() accepts, the kernel must keep to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "rushlight/kernel.h"
#include "tests/support/random.h"

namespace rush {

/// Exactly `bytes` bytes, so that the address sanitizer sees every step beyond them.
struct ExactBytes {
  explicit ExactBytes(uint32_t bytes) : size(bytes), data(new uint8_t[bytes]) {}
  uint32_t size;
  std::unique_ptr<uint8_t[]> data;
};

/// Runs a kernel over operands as large as its extents say. Operands that the contract calls read-only must not change.
inline void run_within(const KernelContract& contract, Kernel* run, const void* params, const Extents& extents) {
  std::vector<ExactBytes> operands;
  std::vector<void*> pointers;
  for (size_t i = 0; i < contract.operand_count; ++i) {
    operands.emplace_back(extents.bytes[i]);
    std::iota(operands[i].data.get(), operands[i].data.get() + extents.bytes[i], uint8_t{17});
    pointers.push_back(operands[i].data.get());
  }
  run(params, pointers.data(), {0, static_cast<int32_t>(extents.rows)});
  for (size_t i = 0; i < contract.operand_count; ++i) {
    if ((contract.written >> i & 1) != 0) continue;
    std::vector<uint8_t> before(extents.bytes[i]);
    std::iota(before.begin(), before.end(), uint8_t{17});
    EXPECT_TRUE(std::equal(before.begin(), before.end(), operands[i].data.get())) << "operand " << i << " was written";
  }
}

/// Changes up to four half words of `good` at random, many times, and runs what extents() accepts and what is small.
template <class Params>
void check_contract(const KernelContract& contract, Kernel* run, const Params& good, uint64_t seed) {
  Random random(seed);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    Params params = good;
    for (int64_t edits = random.integer(1, 4); edits > 0; --edits) {
      const auto value = static_cast<uint16_t>(random.chance(0.8) ? random.integer(0, 9) : random.integer(0, 0xffff));
      const auto at = static_cast<size_t>(random.integer(0, static_cast<int64_t>(sizeof(Params) / 2) - 1));
      std::memcpy(reinterpret_cast<uint8_t*>(&params) + 2 * at, &value, 2);
    }
    Extents extents{};
    if (!contract.extents(&params, &extents) || extents.rows == 0) continue;
    if (std::ranges::any_of(extents.bytes, [](uint32_t bytes) { return bytes > 2048; })) continue;
    ++accepted;
    run_within(contract, run, &params, extents);
  }
  EXPECT_GT(accepted, 500);
}

}  // namespace rush
