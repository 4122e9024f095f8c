// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/lifetime.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "compiler/plan/schedule.h"
#include "ops/op_def.h"

namespace rush {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

/// The buffer that a view shares bytes with, itself no view.
struct Root {
  size_t buffer = 0;
  uint32_t offset = 0;
};

Root root_of(const Program& program, size_t index) {
  Root root{index, 0};
  while (const auto parent = program.buffers[root.buffer].view_of) {
    root.offset += program.buffers[root.buffer].view_offset;
    root.buffer = static_cast<size_t>(parent->index);
  }
  const Buffer &view = program.buffers[index], &whole = program.buffers.at(root.buffer);
  internal_check(uint64_t{root.offset} + view.bytes <= whole.bytes && root.offset % view.alignment == 0,
                 "plan: \"" + view.name + "\" does not fit into \"" + whole.name + "\", which it views");
  return root;
}

bool is_written(const ProgramStep& step, size_t operand) { return fills(*step.family->host, operand); }

/// How a step touches a buffer with one operand: bytes from `begin` on; row by row, or wholly where `row_bytes` is 0.
struct Access {
  size_t step = 0;
  size_t operand = 0;
  bool writes = false;
  bool in_ring = false;
  int64_t begin = 0;
  int64_t bytes = 0;
  int64_t row_bytes = 0;
  RowDependency dependency{};

  /// From where on the step needs the buffer when its next row is y.
  int64_t needed_from(int y) const {
    if (row_bytes == 0) return begin;
    const RowDependency& d = dependency;
    return begin + int64_t{std::max(0, (y + 1) * d.stride + d.lead - d.span)} * row_bytes;
  }
  int64_t written_from(int y) const { return begin + y * row_bytes; }
  int64_t written_to(int end) const {
    return row_bytes == 0 ? begin + bytes : std::min(begin + bytes, begin + end * row_bytes);
  }
};

/// Bytes [begin, end); none if end <= begin.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;

  bool any() const { return begin < end; }
  int64_t bytes() const { return any() ? end - begin : 0; }
  bool operator==(const Extent& other) const {
    return any() == other.any() && (!any() || (begin == other.begin && end == other.end));
  }
};

Extent hull(const Extent& a, const Extent& b) {
  if (!a.any()) return b;
  return b.any() ? Extent{std::min(a.begin, b.begin), std::max(a.end, b.end)} : a;
}

/// What of a buffer is in use over the turns [first, last].
struct Span {
  int first;
  int last;
  Extent extent;
};

/// A buffer that is no view, as the turns go by.
struct Tenant {
  size_t buffer = 0;
  std::vector<Access> accesses;
  bool is_kept = false;  ///< to the end of the run: outputs, and inputs that the caller wants back
  bool is_ring = false;  ///< counted in rows, and in use as a whole or not at all
  int64_t filled = 0;    ///< bytes, or rows of a ring, that were written so far
  int since = 0;
  Extent now;
  std::vector<Span> spans;
};

/// An output at the turns at which its kernel allows it more, or less, than rows would: it must begin `distance`
/// bytes before the input.
struct Follower {
  int64_t distance = -kNever;
  std::vector<int> turns;
};

class LifetimeFinder {
 public:
  explicit LifetimeFinder(const Program& program, uint8_t region = 0)
      : program_(program), region_(region), turns_(turns_of(program)) {
    for (size_t i = 0; i < program.buffers.size(); ++i) roots_.push_back(root_of(program, i));
    done_.resize(program.steps.size(), 0);
    tenant_of_.resize(program.buffers.size(), -1);
    find_tenants();
    find_accesses();
  }

  /// Goes through all turns. `with_spans`: remembers them, not only how much is in use at once.
  void play(bool with_spans) {
    with_spans_ = with_spans;
    for (int t = 0; t < std::ssize(turns_); ++t) {
      const Turn& turn = turns_[static_cast<size_t>(t)];
      if (turn.step >= 0) {
        play_step(t, turn);
      } else {
        play_border(t, turn);
      }
    }
    for (Tenant& tenant : tenants_) set(tenant, static_cast<int>(turns_.size()), {}, true);
  }

  const Peak& peak() const { return peak_; }
  uint64_t most_live() const { return static_cast<uint64_t>(most_); }

  Lifetimes result() {
    Lifetimes out;
    out.arena.most_live = most_live();
    std::vector<int> block_of(program_.buffers.size(), -1);
    for (const Tenant& tenant : tenants_) {
      block_of[tenant.buffer] = static_cast<int>(out.arena.blocks.size());
      out.arena.blocks.push_back({program_.buffers[tenant.buffer].bytes, 1});
    }
    add_states(block_of, out.state);
    for (size_t i = 0; i < program_.buffers.size(); ++i) out.members.push_back(member(i, block_of, out));
    add_conflicts(out.arena.conflicts);
    return out;
  }

 private:
  const ProgramStep& step(size_t s) const { return program_.steps[s]; }
  Tenant* tenant(BufferId id) {
    if (!id.valid()) return nullptr;
    const int at = tenant_of_[roots_[static_cast<size_t>(id.index)].buffer];
    return at < 0 ? nullptr : &tenants_[static_cast<size_t>(at)];
  }

  /// Entries that touch a buffer, and whether a run touches it at all.
  std::vector<std::set<int>> entries_of_buffers() const {
    std::vector<std::set<int>> entries(program_.buffers.size());
    const auto use = [&](BufferId id, int entry) {
      if (id.valid()) entries[roots_[static_cast<size_t>(id.index)].buffer].insert(entry);
    };
    for (const Turn& turn : turns_) {
      if (turn.step < 0) continue;
      for (const OperandRef& operand : step(static_cast<size_t>(turn.step)).operands) use(operand.buffer, turn.entry);
    }
    for (size_t e = 0; e < program_.entries.size(); ++e) {
      for (const ProgramPort& port : program_.entries[e].inputs) use(port.buffer, static_cast<int>(e));
      for (const ProgramPort& port : program_.entries[e].outputs) use(port.buffer, static_cast<int>(e));
    }
    return entries;
  }

  void find_tenants() {
    const std::vector<std::set<int>> entries = entries_of_buffers();
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      used_.push_back(!entries[i].empty());
      if (buffer.kind != BufferKind::kArena || buffer.view_of || entries[i].empty()) continue;
      tenant_of_[i] = static_cast<int>(tenants_.size());
      Tenant& made = tenants_.emplace_back();
      made.buffer = i;
      if (entries[i].size() > 1) {
        eternal_.push_back(tenants_.size() - 1);
      }
    }
    for (const Entry& entry : program_.entries) {
      for (const ProgramPort& port : entry.inputs) mark_port(port, true);
      for (const ProgramPort& port : entry.outputs) mark_port(port, false);
    }
  }

  void mark_port(const ProgramPort& port, bool is_input) {
    Tenant* const at = tenant(port.buffer);
    if (at != nullptr && (!is_input || port.kept)) at->is_kept = true;
  }

  void find_accesses() {
    std::set<size_t> reached;
    for (const Turn& turn : turns_) {
      if (turn.step < 0 || !reached.insert(static_cast<size_t>(turn.step)).second) continue;
      for (size_t i = 0; i < step(static_cast<size_t>(turn.step)).operands.size(); ++i)
        add_access(static_cast<size_t>(turn.step), i);
    }
    internal_check(reached.size() == program_.steps.size(), "plan: a step belongs to no entry");
    for (Tenant& at : tenants_) {
      at.is_ring = std::ranges::any_of(at.accesses, &Access::in_ring);
      if (at.is_ring) count_in_rows(at);
    }
  }

  void add_access(size_t s, size_t operand) {
    const OperandRef& ref = step(s).operands[operand];
    Tenant* const at = tenant(ref.buffer);
    if (at == nullptr) return;
    Access access{.step = s, .operand = operand, .writes = is_written(step(s), operand)};
    access.begin = int64_t{roots_[static_cast<size_t>(ref.buffer.index)].offset} + ref.offset;
    access.bytes = int64_t{program_.buffers[at->buffer].bytes} - access.begin;
    const auto extents_of = step(s).family->host->contract->extents;
    Extents extents{};
    if (extents_of != nullptr && extents_of(step(s).params.data(), &extents))
      access.bytes = std::min<int64_t>(access.bytes, extents.bytes[operand]);
    describe_rows(access);
    at->accesses.push_back(access);
    if (access.writes && program_[ref.buffer].across_bands) {  // what a band leaves, the next one reads
      access.writes = false;
      at->accesses.push_back(access);
    }
  }

  std::optional<Rows> rows_of(const Access& access) const {
    const std::vector<int>& fields = step(access.step).rows_field;
    if (access.operand >= fields.size() || fields[access.operand] < 0) return std::nullopt;
    Rows rows{};
    std::memcpy(&rows, step(access.step).params.data() + fields[access.operand], sizeof rows);
    return rows;
  }

  void describe_rows(Access& access) const {
    const auto rows = rows_of(access);
    if (!rows) return;
    access.in_ring = rows->reciprocal != 0;
    if (access.writes) {
      access.row_bytes = rows->row_bytes;
      return;
    }
    for (const RowDependency& dependency : step(access.step).row_dependencies) {
      if (dependency.operand != static_cast<int>(access.operand) || dependency.span == 0) continue;
      access.row_bytes = rows->row_bytes;
      access.dependency = dependency;
    }
  }

  static void count_in_rows(Tenant& at) {
    for (Access& access : at.accesses) {
      access.begin = 0;
      access.bytes = kNever;
      if (access.row_bytes != 0) access.row_bytes = 1;
    }
  }

  bool counts(const Tenant& at) const { return region_ == 0 || program_.buffers[at.buffer].region == region_; }

  bool is_eternal(const Tenant& at) const {
    return std::ranges::find(eternal_, static_cast<size_t>(&at - tenants_.data())) != eternal_.end();
  }
  bool is_over(const Access& access) const { return done_[access.step] >= step(access.step).rows; }

  int64_t needed_from(const Access& access) const {
    return is_over(access) ? kNever : access.needed_from(done_[access.step]);
  }

  /// What is written and still needed.
  Extent contents(const Tenant& at) const {
    int64_t begin = at.is_kept ? 0 : kNever;
    for (const Access& access : at.accesses) {
      if (!access.writes) begin = std::min(begin, needed_from(access));
    }
    return {begin, at.filled};
  }

  Extent in_bytes(const Tenant& at, const Extent& extent) const {
    const int64_t bytes = program_.buffers[at.buffer].bytes;
    if (!extent.any()) return {};
    return at.is_ring ? Extent{0, bytes} : Extent{extent.begin, std::min(extent.end, bytes)};
  }

  void set(Tenant& at, int t, const Extent& extent, bool apart = false) {
    if (extent == at.now && !apart) return;
    if (with_spans_ && at.now.any() && at.since < t) at.spans.push_back({at.since, t - 1, at.now});
    if (counts(at)) live_ += extent.bytes() - at.now.bytes();
    at.now = extent;
    at.since = t;
  }

  void play_border(int t, const Turn& turn) {
    const Entry& entry = program_.entries[static_cast<size_t>(turn.entry)];
    if (t == 0) {
      for (const size_t i : eternal_) set(tenants_[i], 0, {0, program_.buffers[tenants_[i].buffer].bytes});
    }
    const bool starts = turn.step == Turn::kStart;
    for (Tenant* at : ports_of(starts ? entry.inputs : entry.outputs)) {
      const int64_t bytes = program_.buffers[at->buffer].bytes;
      if (starts) at->filled = at->is_ring ? kNever : bytes;
      set(*at, t, {0, bytes});
    }
    note_live(turn, live_);
    for (Tenant* at : ports_of(entry.inputs)) set(*at, t + 1, starts ? in_bytes(*at, contents(*at)) : Extent{});
    if (starts) return;
    for (Tenant* at : ports_of(entry.outputs)) set(*at, t + 1, {});
  }

  void note_live(const Turn& turn, int64_t live) {
    if (live <= most_) return;
    most_ = live;
    if (!with_spans_) return;
    peak_ = {turn.step == Turn::kEnd ? static_cast<int>(program_.steps.size()) : turn.step, {}};
    for (const Tenant& at : tenants_) {
      if (at.now.any() && counts(at))
        peak_.tenants.push_back({{static_cast<int32_t>(at.buffer)}, static_cast<uint64_t>(at.now.bytes())});
    }
  }

  std::vector<Tenant*> ports_of(const std::vector<ProgramPort>& ports) {
    std::vector<Tenant*> tenants;
    for (const ProgramPort& port : ports) {
      Tenant* const at = port.line_fed ? nullptr : tenant(port.buffer);
      if (at != nullptr && !is_eternal(*at)) tenants.push_back(at);
    }
    return tenants;
  }

  void play_step(int t, const Turn& turn) {
    const auto s = static_cast<size_t>(turn.step);
    std::vector<Tenant*> touched;
    for (const OperandRef& operand : step(s).operands) {
      Tenant* const at = tenant(operand.buffer);
      if (at != nullptr && !is_eternal(*at) && std::ranges::find(touched, at) == touched.end()) touched.push_back(at);
    }
    const int64_t shared = follow(t, turn);
    for (Tenant* at : touched) set(*at, t, in_bytes(*at, hull(contents(*at), written_at(*at, turn))), false);
    note_live(turn, live_ - shared);
    for (Tenant* at : touched) at->filled = std::max(at->filled, written_at(*at, turn).end);
    done_[s] = turn.end;
    for (Tenant* at : touched) set(*at, t + 1, in_bytes(*at, contents(*at)), is_follower_turn_);
  }

  static Extent written_at(const Tenant& at, const Turn& turn) {
    Extent all;
    for (const Access& access : at.accesses) {
      if (!access.writes || access.step != static_cast<size_t>(turn.step)) continue;
      all = hull(all,
                 {access.row_bytes == 0 ? access.begin : access.written_from(turn.begin), access.written_to(turn.end)});
    }
    return all;
  }

  static Access* find_access(Tenant& at, size_t s, size_t operand, bool writes) {
    const auto it = std::ranges::find_if(at.accesses, [&](const Access& access) {
      return access.step == s && access.operand == operand && access.writes == writes;
    });
    return it == at.accesses.end() ? nullptr : &*it;
  }

  /// Notes which outputs may come closer to an input at this turn than rows allow, and by how much: the bytes that
  /// both may be in.
  int64_t follow(int t, const Turn& turn) {
    is_follower_turn_ = false;
    const auto s = static_cast<size_t>(turn.step);
    int64_t shared = 0;
    for (size_t out = 0; out < step(s).operands.size(); ++out) {
      if (is_written(step(s), out)) shared += follow_output(t, turn, out);
    }
    return shared;
  }

  int64_t follow_output(int t, const Turn& turn, size_t out) {
    const auto s = static_cast<size_t>(turn.step);
    Tenant* const to = tenant(step(s).operands[out].buffer);
    if (to == nullptr || to->is_ring || is_eternal(*to)) return 0;
    const Access* const write = find_access(*to, s, out, true);
    int64_t shared = 0;
    for (size_t in = 0; in < step(s).operands.size(); ++in) {
      Tenant* const from = tenant(step(s).operands[in].buffer);
      if (from == nullptr || from == to || from->is_ring || is_eternal(*from) || is_written(step(s), in)) continue;
      const Access* const read = find_access(*from, s, in, false);
      const auto own = own_distance(turn, *read, *write, *to);
      if (!own) continue;
      const Extent written = written_at(*to, turn);
      note_follower(t, *from, *to, std::max(*own, distance_to_others(turn, *from, *to, out, written)));
      if (counts(*from) && counts(*to)) shared = written.bytes();
    }
    return shared;
  }

  void note_follower(int t, Tenant& from, Tenant& to, int64_t distance) {
    is_follower_turn_ = true;
    if (!with_spans_) return;
    for (Tenant* at : {&from, &to}) set(*at, t, at->now, true);
    Follower& follower = followers_[{&from - tenants_.data(), &to - tenants_.data()}];
    follower.distance = std::max(follower.distance, distance);
    if (follower.turns.empty() || follower.turns.back() != t) follower.turns.push_back(t);
  }

  bool is_in_place(size_t s, size_t in, size_t out) const {
    return std::ranges::any_of(step(s).in_place, [&](const InPlace& pair) {
      return pair.input_operand == static_cast<int>(in) && pair.output_operand == static_cast<int>(out);
    });
  }

  /// How far before the input the output must begin as far as this reader is concerned; nothing if rows decide.
  std::optional<int64_t> own_distance(const Turn& turn, const Access& read, const Access& write,
                                      const Tenant& to) const {
    if (is_in_place(read.step, read.operand, write.operand))
      return std::max(to.filled, write.written_from(turn.begin)) - read.needed_from(turn.begin);
    const auto& positions = step(read.step).positions;
    const bool in_order = rows_at_once(step(read.step)) > 0;
    if (!in_order || !positions || read.operand != 0 || read.row_bytes == 0 || write.row_bytes == 0)
      return std::nullopt;
    return positions_distance(turn, *positions, read) + write.begin - read.begin;
  }

  /// Tiles of positions, wherever the first of them may lie: its outputs must not reach its inputs.
  int64_t positions_distance(const Turn& turn, const Positions& p, const Access& read) const {
    const int64_t all = int64_t{step(read.step).rows} * p.in_row,
                  at_once = step(read.step).family->host->positions_at_once;
    const int64_t first = int64_t{turn.begin} * p.in_row, last = int64_t{turn.end} * p.in_row - 1;
    int64_t distance = -kNever;
    for (const int64_t i : {first, last, std::clamp(all - at_once, first, last)})
      distance = std::max(distance, std::min(i + at_once, all) * p.out_bytes - i * p.in_bytes);
    return distance;
  }

  /// The same for all other readers, who must find everything as it was.
  int64_t distance_to_others(const Turn& turn, const Tenant& from, const Tenant& to, size_t out,
                             const Extent& written) const {
    const auto s = static_cast<size_t>(turn.step);
    int64_t needed = from.is_kept ? 0 : kNever;
    for (const Access& access : from.accesses) {
      if (access.writes) continue;
      const bool own = access.step == s && (is_in_place(s, access.operand, out) || step(s).positions);
      if (!own) needed = std::min(needed, needed_from(access));
    }
    return needed == kNever ? -kNever : std::max(to.filled, written.end) - needed;
  }

  void add_states(std::vector<int>& block_of, Tenants& states) const {
    for (size_t i = 0; i < program_.buffers.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      if (buffer.kind != BufferKind::kState || buffer.view_of || !used_[i]) continue;
      block_of[i] = static_cast<int>(states.blocks.size());
      states.blocks.push_back({buffer.bytes, 1});
      states.most_live += buffer.bytes;
      for (size_t other = 0; other + 1 < states.blocks.size(); ++other)
        states.conflicts.push_back({other, states.blocks.size() - 1, states.blocks[other].bytes, buffer.bytes});
    }
  }

  int step_at(int t) const {
    const Turn& turn = turns_[static_cast<size_t>(t)];
    return turn.step == Turn::kStart ? -1
           : turn.step == Turn::kEnd ? static_cast<int>(program_.steps.size())
                                     : turn.step;
  }

  Member member(size_t i, const std::vector<int>& block_of, Lifetimes& out) const {
    const size_t root = roots_[i].buffer;
    if (block_of[root] < 0) return {};
    const bool is_state = program_.buffers[root].kind == BufferKind::kState;
    Block& block = (is_state ? out.state : out.arena).blocks[static_cast<size_t>(block_of[root])];
    block.alignment = std::max(block.alignment, program_.buffers[i].alignment);
    Member made{block_of[root], roots_[i].offset, -1, static_cast<int>(program_.steps.size())};
    if (is_state) return made;
    const std::vector<Span>& spans = tenants_[static_cast<size_t>(tenant_of_[root])].spans;
    if (spans.empty()) return made;
    made.first_step = step_at(spans.front().first);
    made.last_step = step_at(spans.back().last);
    return made;
  }

  void add_conflicts(std::vector<Conflict>& conflicts) const {
    for (size_t a = 0; a < tenants_.size(); ++a) {
      for (size_t b = a + 1; b < tenants_.size(); ++b) {
        if (const auto conflict = conflict_of(a, b)) conflicts.push_back(*conflict);
      }
    }
  }

  bool follows_at(size_t from, size_t to, const Span& from_span, int t) const {
    const auto it = followers_.find({static_cast<ptrdiff_t>(from), static_cast<ptrdiff_t>(to)});
    return it != followers_.end() && from_span.first == from_span.last &&
           std::ranges::binary_search(it->second.turns, t);
  }

  int64_t follower_distance(size_t from, size_t to) const {
    const auto it = followers_.find({static_cast<ptrdiff_t>(from), static_cast<ptrdiff_t>(to)});
    return it == followers_.end() ? -kNever : it->second.distance;
  }

  std::optional<Conflict> conflict_of(size_t a, size_t b) const {
    const std::vector<Span>&one = tenants_[a].spans, &two = tenants_[b].spans;
    Conflict conflict{a, b, follower_distance(b, a), follower_distance(a, b)};
    bool meet = false;
    for (size_t i = 0, j = 0; i < one.size() && j < two.size();) {
      const int t = std::max(one[i].first, two[j].first);
      if (t <= std::min(one[i].last, two[j].last)) {
        meet = true;
        if (!follows_at(b, a, two[j], t))
          conflict.above = std::max(conflict.above, one[i].extent.end - two[j].extent.begin);
        if (!follows_at(a, b, one[i], t))
          conflict.below = std::max(conflict.below, two[j].extent.end - one[i].extent.begin);
      }
      ++(one[i].last < two[j].last ? i : j);
    }
    return meet ? std::optional(conflict) : std::nullopt;
  }

  const Program& program_;
  const uint8_t region_;  ///< the only one that is counted; 0: all
  const std::vector<Turn> turns_;
  std::vector<Root> roots_;  ///< of each buffer
  std::vector<bool> used_;   ///< of each buffer
  std::vector<Tenant> tenants_;
  std::vector<int> tenant_of_;                                     ///< of each buffer that is no view
  std::vector<size_t> eternal_;                                    ///< tenants that several entries use
  std::vector<int> done_;                                          ///< rows of each step
  std::map<std::pair<ptrdiff_t, ptrdiff_t>, Follower> followers_;  ///< by input and output
  bool with_spans_ = false;
  bool is_follower_turn_ = false;
  int64_t live_ = 0;
  int64_t most_ = 0;
  Peak peak_;
};

}  // namespace

Lifetimes find_lifetimes(const Program& program) {
  LifetimeFinder finder(program);
  finder.play(true);
  return finder.result();
}

Peak find_peak(const Program& program, uint8_t region) {
  LifetimeFinder finder(program, region);
  finder.play(true);
  return finder.peak();
}

uint64_t most_live_bytes(const Program& program) {
  LifetimeFinder finder(program);
  finder.play(false);
  return finder.most_live();
}

}  // namespace rush
