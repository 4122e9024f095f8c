// SPDX-License-Identifier: Apache-2.0
//
// Offsets for blocks of memory that may not come too close to each other: dynamic storage allocation, which is
// NP-hard. The best of several greedy orders, then a deterministic search, which stops as soon as the lower bound is
// reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rush {

struct Block {
  uint32_t bytes = 0;
  uint32_t alignment = 1;
};

/// Block b begins at least `above` bytes behind the beginning of block a, or at least `below` bytes before it.
struct Conflict {
  size_t a = 0;
  size_t b = 0;
  int64_t above = 0;
  int64_t below = 0;
};

struct Placement {
  std::vector<uint64_t> offsets;  ///< of each block
  uint64_t bytes = 0;
  bool is_best = false;  ///< proven: no placement needs less
};

/// Offsets are multiples of the alignments. `bound`: no placement is known to need less.
Placement place_blocks(const std::vector<Block>& blocks, const std::vector<Conflict>& conflicts, uint64_t bound);

/// The same without the search: quick, and seldom much worse.
Placement place_greedily(const std::vector<Block>& blocks, const std::vector<Conflict>& conflicts);

/// What the worst pair needs, however it lies.
uint64_t pair_bound(const std::vector<Block>& blocks, const std::vector<Conflict>& conflicts);

}  // namespace rush
