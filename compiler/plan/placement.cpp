// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/placement.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

namespace rush {
namespace {

using Order = std::vector<size_t>;

enum class Fit { kFirst, kBest };

uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// What a block sees of another: it begins at least `above` bytes behind it or `below` before it.
struct Neighbour {
  size_t block;
  int64_t above;
  int64_t below;
};

struct Problem {
  const std::vector<Block>& blocks;
  std::vector<std::vector<Neighbour>> neighbours;  ///< of each block

  Problem(const std::vector<Block>& all, const std::vector<Conflict>& conflicts) : blocks(all), neighbours(all.size()) {
    for (const Conflict& c : conflicts) {
      neighbours[c.b].push_back({c.a, c.above, c.below});
      neighbours[c.a].push_back({c.b, c.below, c.above});
    }
  }
};

/// Offsets (begin, end) between which a block must not begin; exclusive.
struct Forbidden {
  int64_t begin;
  int64_t end;
};

/// Places blocks one after the other into the gaps that those already placed leave.
class Placer {
 public:
  explicit Placer(const Problem& problem) : problem_(problem), offsets_(problem.blocks.size(), kNowhere) {}

  void put(size_t block, int64_t offset) { offsets_[block] = offset; }
  void take(size_t block) { offsets_[block] = kNowhere; }
  bool is_placed(size_t block) const { return offsets_[block] != kNowhere; }

  Placement place(const Order& order, Fit fit) {
    std::ranges::fill(offsets_, kNowhere);
    for (const size_t block : order) offsets_[block] = gap_for(block, fit);
    return placement();
  }

  Placement placement() const {
    Placement made;
    for (size_t i = 0; i < offsets_.size(); ++i) {
      made.offsets.push_back(static_cast<uint64_t>(offsets_[i]));
      made.bytes = std::max(made.bytes, made.offsets.back() + problem_.blocks[i].bytes);
    }
    return made;
  }

  int64_t gap_for(size_t wanted, Fit fit) {
    find_forbidden(wanted);
    const uint32_t alignment = problem_.blocks[wanted].alignment;
    int64_t from = 0, best = -1, best_slack = INT64_MAX;
    for (const Forbidden& next : forbidden_) {
      const auto start = static_cast<int64_t>(round_up(static_cast<uint64_t>(from), alignment));
      if (start <= next.begin && next.begin - start < best_slack) {
        if (fit == Fit::kFirst) return start;
        best = start;
        best_slack = next.begin - start;
      }
      from = std::max(from, next.end);
    }
    return best >= 0 ? best : static_cast<int64_t>(round_up(static_cast<uint64_t>(from), alignment));
  }

 private:
  static constexpr int64_t kNowhere = -1;

  void find_forbidden(size_t wanted) {
    forbidden_.clear();
    for (const Neighbour& other : problem_.neighbours[wanted]) {
      const int64_t offset = offsets_[other.block];
      if (offset == kNowhere) continue;
      const Forbidden range{offset - other.below, offset + other.above};
      if (range.begin < range.end && range.end > 0) forbidden_.push_back(range);
    }
    std::ranges::sort(forbidden_, {}, &Forbidden::begin);
  }

  const Problem& problem_;
  std::vector<int64_t> offsets_;
  std::vector<Forbidden> forbidden_;
};

template <class Key>
Order sorted_by(const Problem& problem, Key key) {
  Order order(problem.blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, key);
  return order;
}

std::vector<Order> greedy_orders(const Problem& problem) {
  const auto size = [&](size_t i) { return -int64_t{problem.blocks[i].bytes}; };
  const auto crowd = [&](size_t i) {  // bytes that a block must share its time with
    int64_t bytes = 0;
    for (const Neighbour& other : problem.neighbours[i]) bytes -= problem.blocks[other.block].bytes;
    return bytes;
  };
  const auto partners = [&](size_t i) { return -static_cast<int64_t>(problem.neighbours[i].size()); };
  const auto position = [](size_t i) { return static_cast<int64_t>(i); };
  return {
      sorted_by(problem, size),
      sorted_by(problem, [&](size_t i) { return std::pair(partners(i), size(i)); }),
      sorted_by(problem, [&](size_t i) { return std::pair(crowd(i), size(i)); }),
      sorted_by(problem, [&](size_t i) { return size(i) + crowd(i); }),
      sorted_by(problem, position),
      sorted_by(problem, [&](size_t i) { return -position(i); }),
  };
}

struct Candidate {
  Order order;
  Fit fit = Fit::kFirst;
  Placement placement;
};

Candidate best_greedy(const Problem& problem) {
  Placer placer(problem);
  Candidate best;
  best.placement.bytes = UINT64_MAX;
  for (const Order& order : greedy_orders(problem)) {
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      Placement placement = placer.place(order, fit);
      if (placement.bytes < best.placement.bytes) best = {order, fit, std::move(placement)};
    }
  }
  return best;
}

/// The turn of a block that ends where everything ends: it must be placed earlier, or nothing is gained.
size_t turn_of_topmost(const Problem& problem, const Candidate& candidate) {
  const auto it = std::ranges::find_if(candidate.order, [&](size_t block) {
    return candidate.placement.offsets[block] + problem.blocks[block].bytes == candidate.placement.bytes;
  });
  return static_cast<size_t>(it - candidate.order.begin());
}

/// Moves the topmost block, and now and then any other, to an earlier turn, as long as the whole does not grow.
void improve(const Problem& problem, uint64_t bound, Candidate& best) {
  const size_t n = problem.blocks.size();
  const size_t rounds = std::min<size_t>(2000, 6'000'000 / (n * n) + 1);  // some tens of milliseconds
  std::minstd_rand random(1);                                             // the standard fixes its sequence
  Placer placer(problem);
  for (size_t round = 0; round < rounds && best.placement.bytes > bound; ++round) {
    Candidate next = best;
    const size_t from = round % 4 == 3 ? random() % n : turn_of_topmost(problem, best);
    const size_t to = random() % (from + 1);
    const auto begin = next.order.begin();
    std::rotate(begin + static_cast<ptrdiff_t>(to), begin + static_cast<ptrdiff_t>(from),
                begin + static_cast<ptrdiff_t>(from) + 1);
    next.placement = placer.place(next.order, next.fit);
    if (next.placement.bytes <= best.placement.bytes) best = std::move(next);
  }
}

/// All placements in which each block lies as low as those below it let it, cut where they need no less than the best
/// one found. Gives up after so many steps: then the best is not proven.
class Exhaustive {
 public:
  Exhaustive(const Problem& problem, uint64_t bound, Placement& best)
      : problem_(problem), bound_(bound), best_(best), placer_(problem) {}

  /// True if all were seen or cut: the best is proven.
  bool search() {
    descend(0, 0);
    return steps_ <= kMostSteps;
  }

 private:
  static constexpr int kMostSteps = 100'000;

  bool is_over() const { return steps_ > kMostSteps || best_.bytes <= bound_; }

  void descend(size_t placed, int64_t floor) {
    if (placed == problem_.blocks.size()) {
      best_ = placer_.placement();
      return;
    }
    for (const auto& [offset, block] : choices(floor)) {
      if (is_over()) return;
      if (static_cast<uint64_t>(offset) + problem_.blocks[block].bytes >= best_.bytes) continue;
      ++steps_;
      placer_.put(block, offset);
      descend(placed + 1, offset);
      placer_.take(block);
    }
  }

  /// Each block that is left where it would lie now, lowest first; none if one cannot lie anywhere any more.
  std::vector<std::pair<int64_t, size_t>> choices(int64_t floor) {
    std::vector<std::pair<int64_t, size_t>> found;
    for (size_t block = 0; block < problem_.blocks.size(); ++block) {
      if (placer_.is_placed(block)) continue;
      const int64_t offset = placer_.gap_for(block, Fit::kFirst);
      if (static_cast<uint64_t>(offset) + problem_.blocks[block].bytes >= best_.bytes) return {};
      if (offset >= floor) found.emplace_back(offset, block);
    }
    std::ranges::sort(found, [&](const auto& a, const auto& b) {
      return std::pair(a.first, problem_.blocks[b.second].bytes) < std::pair(b.first, problem_.blocks[a.second].bytes);
    });
    return found;
  }

  const Problem& problem_;
  uint64_t bound_;
  Placement& best_;
  Placer placer_;
  int steps_ = 0;
};

}  // namespace

Placement place_blocks(const std::vector<Block>& blocks, const std::vector<Conflict>& conflicts, uint64_t bound) {
  if (blocks.empty()) return {};
  const Problem problem(blocks, conflicts);
  Candidate best = best_greedy(problem);
  improve(problem, bound, best);
  constexpr size_t kMostForSearch = 40;
  bool is_best = best.placement.bytes <= bound;
  if (!is_best && blocks.size() <= kMostForSearch) {
    const bool is_complete = Exhaustive(problem, bound, best.placement).search();
    // A block that another may begin before, though it must end behind it, is not held from below.
    is_best =
        is_complete && std::ranges::all_of(conflicts, [](const Conflict& c) { return c.above >= 0 && c.below >= 0; });
  }
  best.placement.is_best = is_best;
  return best.placement;
}

Placement place_greedily(const std::vector<Block>& blocks, const std::vector<Conflict>& conflicts) {
  return blocks.empty() ? Placement{} : best_greedy(Problem(blocks, conflicts)).placement;
}

uint64_t pair_bound(const std::vector<Block>& blocks, const std::vector<Conflict>& conflicts) {
  uint64_t bound = 0;
  for (const Block& block : blocks) bound = std::max<uint64_t>(bound, block.bytes);
  for (const Conflict& c : conflicts) {
    if (c.above + c.below <= 0) continue;  // anywhere
    const int64_t a = blocks[c.a].bytes, b = blocks[c.b].bytes;
    const int64_t over = std::max(a, std::max<int64_t>(c.above, 0) + b);
    const int64_t under = std::max(b, std::max<int64_t>(c.below, 0) + a);
    bound = std::max(bound, static_cast<uint64_t>(std::min(over, under)));
  }
  return bound;
}

}  // namespace rush
