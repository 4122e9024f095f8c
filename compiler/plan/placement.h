// SPDX-License-Identifier: Apache-2.0
//
// Offsets for blocks of memory with known lifetimes: dynamic storage allocation, which is NP-hard. The best of
// several greedy orders, then a short deterministic search, which stops as soon as the lower bound is reached.
#pragma once

#include <cstdint>
#include <vector>

namespace rush {

/// So many bytes over the times [first, last].
struct Piece {
  uint32_t bytes = 0;
  int first = 0;
  int last = 0;
};

/// Pieces that begin at one address: a buffer, and the outputs that are computed in place over it.
struct Block {
  uint32_t alignment = 1;
  std::vector<Piece> pieces;
};

struct Placement {
  std::vector<uint64_t> offsets;  ///< of each block
  uint64_t bytes = 0;
};

inline bool live_together(const Piece& a, const Piece& b) { return a.first <= b.last && b.first <= a.last; }

/// Pieces of different blocks that live at the same time do not overlap; offsets are multiples of the alignments.
Placement place_blocks(const std::vector<Block>& blocks);

/// The most bytes that live at one time.
uint64_t most_live_bytes(const std::vector<Block>& blocks);

}  // namespace rush
