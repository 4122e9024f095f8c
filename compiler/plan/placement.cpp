// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/placement.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <utility>

namespace rush {
namespace {

using Order = std::vector<size_t>;

enum class Fit { kFirst, kBest };

uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

uint64_t size_of(const Block& block) { return std::ranges::max(block.pieces, {}, &Piece::bytes).bytes; }
int64_t first_of(const Block& block) { return std::ranges::min(block.pieces, {}, &Piece::first).first; }
int64_t last_of(const Block& block) { return std::ranges::max(block.pieces, {}, &Piece::last).last; }

/// Bytes times time.
int64_t area_of(const Block& block) {
  int64_t area = 0;
  for (const Piece& piece : block.pieces) area += int64_t{piece.bytes} * (piece.last - piece.first + 1);
  return area;
}

/// Offsets (begin, end) between which a block must not begin; exclusive.
struct Forbidden {
  int64_t begin;
  int64_t end;
};

/// Places blocks one after the other into the gaps that those already placed leave.
class Placer {
 public:
  Placer(const std::vector<Block>& blocks, Fit fit) : blocks_(blocks), fit_(fit) {
    placement_.offsets.resize(blocks.size());
  }

  Placement place(const Order& order) {
    for (const size_t block : order) {
      placement_.offsets[block] = gap_for(blocks_[block]);
      placement_.bytes = std::max(placement_.bytes, placement_.offsets[block] + size_of(blocks_[block]));
      placed_.push_back(block);
    }
    return std::move(placement_);
  }

 private:
  std::vector<Forbidden> forbidden_for(const Block& wanted) const {
    std::vector<Forbidden> out;
    for (const size_t other : placed_) {
      const auto offset = static_cast<int64_t>(placement_.offsets[other]);
      for (const Piece& theirs : blocks_[other].pieces) {
        for (const Piece& ours : wanted.pieces) {
          if (live_together(ours, theirs))
            out.push_back({offset - int64_t{ours.bytes}, offset + int64_t{theirs.bytes}});
        }
      }
    }
    std::ranges::sort(out, {}, &Forbidden::begin);
    return out;
  }

  uint64_t gap_for(const Block& wanted) const {
    int64_t from = 0, best = -1, best_slack = INT64_MAX;
    for (const Forbidden& next : forbidden_for(wanted)) {
      const auto start = static_cast<int64_t>(round_up(static_cast<uint64_t>(from), wanted.alignment));
      if (start <= next.begin && next.begin - start < best_slack) {
        if (fit_ == Fit::kFirst) return static_cast<uint64_t>(start);
        best = start;
        best_slack = next.begin - start;
      }
      from = std::max(from, next.end);
    }
    return best >= 0 ? static_cast<uint64_t>(best) : round_up(static_cast<uint64_t>(from), wanted.alignment);
  }

  const std::vector<Block>& blocks_;
  Fit fit_;
  Placement placement_;
  std::vector<size_t> placed_;
};

template <class Key>
Order sorted_by(const std::vector<Block>& blocks, Key key) {
  Order order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return key(blocks[i]); });
  return order;
}

std::vector<Order> greedy_orders(const std::vector<Block>& blocks) {
  const auto size = [](const Block& b) { return -static_cast<int64_t>(size_of(b)); };
  return {
      sorted_by(blocks, size),
      sorted_by(blocks, [&](const Block& b) { return std::pair(first_of(b) - last_of(b), size(b)); }),
      sorted_by(blocks, [](const Block& b) { return -area_of(b); }),
      sorted_by(blocks, [&](const Block& b) { return std::pair(first_of(b), size(b)); }),
      sorted_by(blocks, [&](const Block& b) { return std::pair(-last_of(b), size(b)); }),
  };
}

struct Candidate {
  Order order;
  Fit fit = Fit::kFirst;
  Placement placement;
};

Candidate best_greedy(const std::vector<Block>& blocks) {
  Candidate best;
  best.placement.bytes = UINT64_MAX;
  for (const Order& order : greedy_orders(blocks)) {
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      Placement placement = Placer(blocks, fit).place(order);
      if (placement.bytes < best.placement.bytes) best = {order, fit, std::move(placement)};
    }
  }
  return best;
}

/// The turn of a block that ends where everything ends: it must be placed earlier, or nothing is gained.
size_t turn_of_topmost(const std::vector<Block>& blocks, const Candidate& candidate) {
  const auto it = std::ranges::find_if(candidate.order, [&](size_t block) {
    return candidate.placement.offsets[block] + size_of(blocks[block]) == candidate.placement.bytes;
  });
  return static_cast<size_t>(it - candidate.order.begin());
}

/// Moves the topmost block, and now and then any other, to an earlier turn, as long as the whole does not grow.
void improve(const std::vector<Block>& blocks, uint64_t bound, Candidate& best) {
  const size_t n = blocks.size();
  const size_t rounds = std::min<size_t>(500, 4'000'000 / (n * n) + 1);  // some milliseconds
  std::minstd_rand random(1);                                            // the standard fixes its sequence
  for (size_t round = 0; round < rounds && best.placement.bytes > bound; ++round) {
    Candidate next = best;
    const size_t from = round % 4 == 3 ? random() % n : turn_of_topmost(blocks, best);
    const size_t to = random() % (from + 1);
    const auto begin = next.order.begin();
    std::rotate(begin + static_cast<ptrdiff_t>(to), begin + static_cast<ptrdiff_t>(from),
                begin + static_cast<ptrdiff_t>(from) + 1);
    next.placement = Placer(blocks, next.fit).place(next.order);
    if (next.placement.bytes <= best.placement.bytes) best = std::move(next);
  }
}

uint64_t live_bytes_at(const std::vector<Block>& blocks, int time) {
  uint64_t live = 0;
  for (const Block& block : blocks) {
    uint32_t largest = 0;
    for (const Piece& piece : block.pieces) {
      if (piece.first <= time && time <= piece.last) largest = std::max(largest, piece.bytes);
    }
    live += largest;
  }
  return live;
}

}  // namespace

Placement place_blocks(const std::vector<Block>& blocks) {
  if (blocks.empty()) return {};
  Candidate best = best_greedy(blocks);
  improve(blocks, most_live_bytes(blocks), best);
  return best.placement;
}

uint64_t most_live_bytes(const std::vector<Block>& blocks) {
  uint64_t most = 0;
  for (const Block& block : blocks) {
    for (const Piece& piece : block.pieces) most = std::max(most, live_bytes_at(blocks, piece.first));
  }
  return most;
}

}  // namespace rush
