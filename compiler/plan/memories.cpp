// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/memories.h"

#include <fnmatch.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/plan/cost.h"
#include "compiler/plan/lifetime.h"
#include "compiler/plan/placement.h"
#include "compiler/plan/plan.h"
#include "ops/op_def.h"

namespace rush {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

uint64_t round_up(uint64_t bytes, uint64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

size_t root_of(const Program& program, BufferId id) {
  while (const auto parent = program[id].view_of) id = *parent;
  return static_cast<size_t>(id.index);
}

/// A buffer that is no view, and what it costs in each memory.
struct Item {
  size_t buffer = 0;
  BufferKind kind = BufferKind::kArena;
  int block = -1;  ///< of the lifetimes, if it shares its memory with others
  uint64_t bytes = 0;
  uint32_t alignment = 1;
  std::vector<double> cycles;  ///< in each memory; kNever where it cannot lie
  std::string wanted_by;       ///< the request that decided
};

std::vector<Item> find_items(const Program& program, const Lifetimes& lifetimes) {
  std::vector<Item> items(program.buffers.size());
  for (size_t i = 0; i < items.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    items[i] = {.buffer = i,
                .kind = buffer.kind,
                .block = lifetimes.members[i].block,
                .bytes = buffer.bytes,
                .alignment = buffer.alignment,
                .cycles = std::vector<double>(program.memories.size(), 0),
                .wanted_by = {}};
  }
  std::vector<bool> used(items.size());
  for (const ProgramStep& step : program.steps) {
    const std::vector<double> traffic = operand_traffic(program, step);
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (!step.operands[i].buffer.valid()) continue;
      Item& item = items[root_of(program, step.operands[i].buffer)];
      used[item.buffer] = true;
      const auto bytes = static_cast<double>(program[step.operands[i].buffer].bytes);
      for (size_t m = 0; m < program.memories.size(); ++m)
        item.cycles[m] += memory_cycles(program, program.memories[m], bytes, traffic[i], fills(*step.family->host, i));
    }
  }
  for (size_t i = 0; i < items.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    if (const auto parent = buffer.view_of) {  // a view's alignment is its root's, see Lifetimes
      Item& root = items[root_of(program, *parent)];
      root.alignment = std::max(root.alignment, buffer.alignment);
    }
    for (size_t m = 0; m < program.memories.size(); ++m) {
      if (program.memories[m].is_flash && buffer.kind != BufferKind::kConstant) items[i].cycles[m] = kNever;
    }
  }
  std::erase_if(items, [&](const Item& item) {
    const Buffer& buffer = program.buffers[item.buffer];
    return buffer.view_of || buffer.bytes == 0 ||
           (buffer.kind == BufferKind::kConstant ? !used[item.buffer] : item.block < 0);
  });
  return items;
}

bool matches(const std::string& pattern, const ProgramStep& step) {
  const auto is = [&](const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; };
  return is(step.origin.layer) || is(step.name);
}

/// Items of the layers that a request names.
std::vector<size_t> items_of(const Program& program, const std::vector<Item>& items, const std::string& text) {
  std::string pattern = text;
  const auto cut = [&](const std::string& ending) {
    const bool ends = pattern.ends_with(ending);
    if (ends) pattern.resize(pattern.size() - ending.size());
    return ends;
  };
  const bool weights_only = cut(".weight"), output_only = !weights_only && cut(".output");
  std::vector<bool> found(program.buffers.size());
  for (const ProgramStep& step : program.steps) {
    if (!matches(pattern, step)) continue;
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (!step.operands[i].buffer.valid()) continue;
      const bool is_weight = program[step.operands[i].buffer].kind == BufferKind::kConstant;
      const bool is_output = !is_weight && fills(*step.family->host, i) && program[step.operands[i].buffer].type;
      const bool is_scratch = !is_weight && !program[step.operands[i].buffer].type;
      if (weights_only ? is_weight : output_only ? is_output : is_weight || is_output || is_scratch)
        found[root_of(program, step.operands[i].buffer)] = true;
    }
  }
  std::vector<size_t> indices;
  for (size_t i = 0; i < items.size(); ++i) {
    if (found[items[i].buffer]) indices.push_back(i);
  }
  return indices;
}

std::string request_text(const PlaceRequest& request) {
  return fmt::format("--place {}={}", request.pattern, request.memory);
}

void apply_request(const Program& program, const PlaceRequest& request, std::vector<Item>& items) {
  const auto memory = std::ranges::find(program.memories, request.memory, &ChipMemory::name);
  if (memory == program.memories.end()) {
    std::vector<std::string> names;
    for (const ChipMemory& each : program.memories) names.push_back(each.name);
    throw UserError(fmt::format("{}: {} has no memory \"{}\"", request_text(request), program.target, request.memory),
                    fmt::format("use one of {}", fmt::join(names, ", ")));
  }
  const std::vector<size_t> chosen = items_of(program, items, request.pattern);
  if (chosen.empty())
    throw UserError(fmt::format("{}: nothing in the program is called so", request_text(request)),
                    "name a layer that `rushlight compile` prints, with .weight or .output behind it or not");
  const auto m = static_cast<size_t>(memory - program.memories.begin());
  for (const size_t i : chosen) {
    Item& item = items[i];
    if (item.cycles[m] == kNever)
      throw UserError(
          fmt::format("{}: \"{}\" is written, and {} {}", request_text(request), program.buffers[item.buffer].name,
                      request.memory, memory->is_flash ? "is flash" : "is not where another request wants it"),
          memory->is_flash ? "place only the layer's weights there: LAYER.weight" : "leave out one of the two");
    for (size_t other = 0; other < item.cycles.size(); ++other) {
      if (other != m) item.cycles[other] = kNever;
    }
    item.wanted_by = request_text(request);
  }
}

/// Memory of each item.
using Assignment = std::vector<size_t>;
constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// What lies in a memory is one region for each kind of buffers, one behind the other.
struct KindOfRegion {
  BufferKind buffers;
  RegionKind region;
  std::string_view name;
};
constexpr KindOfRegion kKinds[] = {{BufferKind::kArena, RegionKind::kArena, "arena"},
                                   {BufferKind::kState, RegionKind::kState, "state"},
                                   {BufferKind::kConstant, RegionKind::kWeights, "weights"}};

class MemoryPlacer {
 public:
  MemoryPlacer(Program& program, const std::vector<PlaceRequest>& requests)
      : program_(program), lifetimes_(find_lifetimes(program)), items_(find_items(program, lifetimes_)) {
    for (const PlaceRequest& request : requests) apply_request(program, request, items_);
  }

  void place() {
    Assignment best = start();
    for (is_thorough_ = false;; is_thorough_ = true) {
      while (move_one(best) || exchange_two(best) || evict_one(best)) {
      }
      if (is_thorough_) break;
    }
    write(Branching(*this, best).best());
  }

 private:
  size_t memory_count() const { return program_.memories.size(); }
  double cost(size_t item, size_t memory) const { return memory == kNowhere ? 0 : items_[item].cycles[memory]; }

  std::vector<size_t> items_in(const Assignment& where, size_t memory, BufferKind kind) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (where[i] == memory && items_[i].kind == kind) found.push_back(i);
    }
    return found;
  }

  uint64_t sum_of(const std::vector<size_t>& items) const {
    uint64_t bytes = 0;
    for (const size_t i : items) bytes = round_up(bytes, items_[i].alignment) + items_[i].bytes;
    return round_up(bytes, RUSH_ALIGNMENT);
  }

  /// The items' blocks with the conflicts among them.
  Tenants tenants_of(const std::vector<size_t>& items) const {
    Tenants part;
    std::vector<size_t> index(lifetimes_.arena.blocks.size(), kNowhere);
    for (const size_t i : items) {
      const auto block = static_cast<size_t>(items_[i].block);
      index[block] = part.blocks.size();
      part.blocks.push_back(lifetimes_.arena.blocks[block]);
    }
    for (const Conflict& c : lifetimes_.arena.conflicts) {
      if (index[c.a] != kNowhere && index[c.b] != kNowhere)
        part.conflicts.push_back({index[c.a], index[c.b], c.above, c.below});
    }
    return part;
  }

  /// Bytes of an arena; at least as good as `wanted` if the search for placements finds one so small.
  uint64_t arena_bytes(const std::vector<size_t>& items, uint64_t wanted) {
    const auto [it, is_new] = arenas_.try_emplace(items, Arena{});
    Arena& arena = it->second;
    const Tenants part = tenants_of(items);
    if (is_new) arena.bytes = round_up(place_greedily(part.blocks, part.conflicts).bytes, RUSH_ALIGNMENT);
    if (arena.bytes > wanted && is_thorough_ && !arena.is_searched) {
      const Placement placed = place_blocks(part.blocks, part.conflicts, pair_bound(part.blocks, part.conflicts));
      arena.bytes = round_up(placed.bytes, RUSH_ALIGNMENT);
      arena.is_searched = true;
    }
    return arena.bytes;
  }

  uint64_t bytes_in(const Assignment& where, size_t memory) {
    if (program_.memories[memory].is_flash) return 0;  // what is copied lies there too
    const uint64_t others =
        sum_of(items_in(where, memory, BufferKind::kConstant)) + sum_of(items_in(where, memory, BufferKind::kState));
    const uint64_t bytes = program_.memories[memory].bytes;
    return others + arena_bytes(items_in(where, memory, BufferKind::kArena), bytes > others ? bytes - others : 0);
  }

  bool fits(const Assignment& where, size_t memory) {
    return memory == kNowhere || bytes_in(where, memory) <= program_.memories[memory].bytes;
  }

  /// Puts the item where it costs least of where it fits.
  bool put(size_t item, Assignment& where) {
    Assignment made = where;
    size_t best = kNowhere;
    for (size_t m = 0; m < memory_count(); ++m) {
      if (items_[item].cycles[m] == kNever || (best != kNowhere && cost(item, m) >= cost(item, best))) continue;
      made[item] = m;
      if (fits(made, m)) best = m;
    }
    where[item] = best;
    return best != kNowhere;
  }

  /// Cycles for each byte that the item's memory decides on.
  double stake(size_t item) const {
    double least = kNever, most = 0;
    for (const double cycles : items_[item].cycles) {
      if (cycles == kNever) continue;
      least = std::min(least, cycles);
      most = std::max(most, cycles);
    }
    return (most - least) / static_cast<double>(items_[item].bytes);
  }

  bool is_free(size_t item) const { return items_[item].wanted_by.empty(); }

  /// Requests first; then by what is at stake. If that leaves no room for a tensor, tensors go before constants.
  Assignment start() {
    std::vector<size_t> order(items_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return std::pair(!is_free(i), stake(i)); });
    if (const auto where = put_all(order)) return *where;
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) {
      const bool must = items_[i].kind != BufferKind::kConstant;
      return std::tuple(!is_free(i), must, must ? static_cast<double>(items_[i].bytes) : stake(i));
    });
    if (const auto where = put_all(order)) return *where;
    throw too_small(order);
  }

  std::optional<Assignment> put_all(const std::vector<size_t>& order) {
    Assignment where(items_.size(), kNowhere);
    for (const size_t i : order) {
      if (!put(i, where)) return std::nullopt;
    }
    return where;
  }

  /// Says of the first item that has no place why.
  MemoriesTooSmall too_small(const std::vector<size_t>& order) {
    Assignment where(items_.size(), kNowhere);
    size_t item = 0;
    for (const size_t i : order) {
      item = i;
      if (!put(i, where)) break;
    }
    std::vector<std::string> lines;
    for (size_t m = 0; m < memory_count(); ++m) {
      if (items_[item].cycles[m] == kNever) continue;
      const uint64_t before = bytes_in(where, m);
      where[item] = m;
      lines.push_back(fmt::format("{} has {} bytes for the model; it would need {}, {} of them for others",
                                  program_.memories[m].name, program_.memories[m].bytes, bytes_in(where, m), before));
      where[item] = kNowhere;
    }
    const Buffer& buffer = program_.buffers[items_[item].buffer];
    const std::string because = is_free(item) ? "" : items_[item].wanted_by + ": ";
    return MemoriesTooSmall(
        Diagnostic{.what = fmt::format("{}\"{}\", {} bytes, does not fit", because, buffer.name, buffer.bytes),
                   .op = {},
                   .origin = {},
                   .details = lines,
                   .fix = is_free(item) ? "use a chip with more memory, or a smaller input"
                                        : "place less there, or leave it to the compiler"});
  }

  /// All assignments that could be better than a known one, those of items with most at stake decided first; gives up
  /// after so many steps, which only large models take.
  class Branching {
   public:
    Branching(MemoryPlacer& placer, Assignment known)
        : placer_(placer), best_(std::move(known)), where_(best_.size(), kNowhere), least_(placer.total(best_)) {
      order_.resize(best_.size());
      std::iota(order_.begin(), order_.end(), size_t{0});
      const auto at_stake = [&](size_t i) { return placer_.stake(i) * static_cast<double>(placer_.items_[i].bytes); };
      std::ranges::stable_sort(order_, std::greater<>(), at_stake);
      bound_.resize(order_.size() + 1, 0);
      for (size_t at = order_.size(); at-- > 0;)
        bound_[at] = bound_[at + 1] + std::ranges::min(placer_.items_[order_[at]].cycles);
    }

    Assignment best() {
      descend(0, 0);
      return best_;
    }

   private:
    static constexpr int kMostSteps = 20'000;

    void descend(size_t at, double cycles) {
      if (cycles + bound_[at] >= least_) return;
      if (at == order_.size()) {
        best_ = where_;
        least_ = cycles;
        return;
      }
      const size_t item = order_[at];
      for (size_t m = 0; m < placer_.memory_count() && steps_ < kMostSteps; ++m) {
        if (placer_.items_[item].cycles[m] == kNever) continue;
        ++steps_;
        where_[item] = m;
        if (placer_.fits(where_, m)) descend(at + 1, cycles + placer_.cost(item, m));
      }
      where_[item] = kNowhere;
    }

    MemoryPlacer& placer_;
    Assignment best_;
    Assignment where_;
    double least_;
    std::vector<size_t> order_;
    std::vector<double> bound_;  ///< of the items from each turn on: what they cost at least
    int steps_ = 0;
  };

  bool move_one(Assignment& where) {
    for (size_t i = 0; i < items_.size(); ++i) {
      for (size_t m = 0; m < memory_count(); ++m) {
        if (cost(i, m) >= cost(i, where[i])) continue;
        Assignment moved = where;
        moved[i] = m;
        if (!fits(moved, m)) continue;
        where = moved;
        return true;
      }
    }
    return false;
  }

  bool exchange_two(Assignment& where) {
    for (size_t i = 0; i < items_.size(); ++i) {
      for (size_t j = i + 1; j < items_.size(); ++j) {
        const double now = cost(i, where[i]) + cost(j, where[j]), then = cost(i, where[j]) + cost(j, where[i]);
        if (where[i] == where[j] || !(then < now)) continue;
        Assignment exchanged = where;
        std::swap(exchanged[i], exchanged[j]);
        if (!fits(exchanged, where[i]) || !fits(exchanged, where[j])) continue;
        where = exchanged;
        return true;
      }
    }
    return false;
  }

  double total(const Assignment& where) const {
    double cycles = 0;
    for (size_t i = 0; i < items_.size(); ++i) cycles += cost(i, where[i]);
    return cycles;
  }

  /// One item leaves its memory, others move into the room that it leaves, those first that save most.
  bool evict_one(Assignment& where) {
    for (size_t i = 0; i < items_.size(); ++i) {
      for (size_t m = 0; m < memory_count(); ++m) {
        if (m == where[i] || items_[i].cycles[m] == kNever) continue;
        Assignment made = where;
        made[i] = m;
        if (!fits(made, m)) continue;
        fill(made, where[i], i);
        if (!(total(made) < total(where))) continue;
        where = made;
        return true;
      }
    }
    return false;
  }

  void fill(Assignment& where, size_t memory, size_t evicted) {
    std::vector<size_t> order;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (i != evicted && cost(i, memory) < cost(i, where[i])) order.push_back(i);
    }
    std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) {
      return (cost(i, where[i]) - cost(i, memory)) / static_cast<double>(items_[i].bytes);
    });
    for (const size_t i : order) {
      const size_t before = where[i];
      where[i] = memory;
      if (!fits(where, memory)) where[i] = before;
    }
  }

  void write(const Assignment& where) {
    program_.regions.clear();
    for (const KindOfRegion& kind : kKinds) {
      for (size_t m = 0; m < memory_count(); ++m) write_region(where, kind, m);
    }
    if (program_.regions.size() >= RUSH_MAX_REGIONS)
      throw UserError(fmt::format("the model would lie in {} regions, an image has at most {}", program_.regions.size(),
                                  RUSH_MAX_REGIONS - 1),
                      "keep layers out of some memories with --place");
    for (Buffer& buffer : program_.buffers) {
      if (!buffer.view_of || buffer.kind == BufferKind::kConstant) continue;
      uint32_t offset = buffer.view_offset;
      BufferId root = *buffer.view_of;
      for (; program_[root].view_of; root = *program_[root].view_of) offset += program_[root].view_offset;
      buffer.region = program_[root].region;
      buffer.offset = program_[root].offset + offset;
    }
  }

  void write_region(const Assignment& where, const KindOfRegion& kind, size_t m) {
    const ChipMemory& memory = program_.memories[m];
    const std::vector<size_t> items = items_in(where, m, kind.buffers);
    if (memory.is_flash || items.empty()) return;
    const std::vector<uint64_t> offsets = offsets_of(items, kind);
    uint64_t bytes = 0;
    for (size_t i = 0; i < items.size(); ++i) {
      Buffer& buffer = program_.buffers[items_[items[i]].buffer];
      buffer.region = static_cast<uint8_t>(program_.regions.size() + 1);
      buffer.offset = static_cast<uint32_t>(offsets[i]);
      bytes = std::max(bytes, offsets[i] + buffer.bytes);
    }
    program_.regions.push_back({.name = fmt::format("{}_{}", kind.name, memory.name),
                                .kind = kind.region,
                                .bytes = static_cast<uint32_t>(round_up(bytes, RUSH_ALIGNMENT)),
                                .memory = memory.name});
  }

  std::vector<uint64_t> offsets_of(const std::vector<size_t>& items, const KindOfRegion& kind) const {
    if (kind.region == RegionKind::kArena) {
      const Tenants part = tenants_of(items);
      return place_blocks(part.blocks, part.conflicts, pair_bound(part.blocks, part.conflicts)).offsets;
    }
    std::vector<uint64_t> offsets;
    uint64_t end = 0;
    for (const size_t i : items) {
      offsets.push_back(round_up(end, items_[i].alignment));
      end = offsets.back() + items_[i].bytes;
    }
    return offsets;
  }

  Program& program_;
  const Lifetimes lifetimes_;
  std::vector<Item> items_;
  struct Arena {
    uint64_t bytes = 0;
    bool is_searched = false;
  };
  std::map<std::vector<size_t>, Arena> arenas_;  ///< those that were placed before, by their items
  bool is_thorough_ = false;                     ///< searches for placements where the greedy one does not fit
};

}  // namespace

void place_in_memories(Program& program, const std::vector<PlaceRequest>& requests) {
  MemoryPlacer(program, requests).place();
}

std::vector<MemoryRow> describe_memories(const Program& program) {
  const Lifetimes lifetimes = find_lifetimes(program);
  std::vector<MemoryRow> rows;
  for (const Item& item : find_items(program, lifetimes)) {
    const Buffer& buffer = program.buffers[item.buffer];
    double slowest = 0, here = 0;
    MemoryRow row{.buffer = {static_cast<int32_t>(item.buffer)}, .memory = {}, .bytes = item.bytes};
    for (size_t m = 0; m < program.memories.size(); ++m) {
      const ChipMemory& memory = program.memories[m];
      if (item.cycles[m] != kNever) slowest = std::max(slowest, item.cycles[m]);
      const bool is_here =
          buffer.region == 0 ? memory.is_flash : memory.name == program.regions.at(buffer.region - 1u).memory;
      if (!is_here) continue;
      row.memory = memory.name;
      here = item.cycles[m];
    }
    row.cycles = here;
    row.saves = slowest - here;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater<>(), &MemoryRow::saves);
  return rows;
}

}  // namespace rush
