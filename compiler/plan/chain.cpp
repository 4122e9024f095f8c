// SPDX-License-Identifier: Apache-2.0
//
// Steps that run band by band. The runtime always runs the last step of the chain that is ready, so the order of
// bands follows from the row counters alone. Played through here, it says how many rows of each map are needed
// at once; that many rows, used as a ring, take the place of the map.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "compiler/plan/plan.h"
#include "compiler/plan/schedule.h"
#include "ops/op_def.h"

namespace rush {
namespace {

/// Rows of a map that one step of the chain leaves for another; or, without a buffer, only the other's pace.
struct Edge {
  size_t producer;  ///< places in the chain
  size_t consumer;
  RowDependency dependency;
  BufferId buffer;
};

/// What an operand means to its step.
struct Use {
  size_t place;
  size_t operand;
};

bool is_written(const ProgramStep& step, size_t operand) { return fills(*step.family->host, operand); }

class ChainMaker {
 public:
  ChainMaker(Program& program, int first_step, int step_count, const std::vector<int>& band_rows, bool keeps_scratch)
      : program_(program),
        first_(static_cast<size_t>(first_step)),
        count_(static_cast<size_t>(step_count)),
        band_rows_(band_rows),
        keeps_scratch_(keeps_scratch) {
    internal_check(first_step >= 0 && step_count > 1 && first_ + count_ <= program.steps.size(),
                   "make_chain: no such steps");
  }

  void make() {
    require_single_chains();
    take_row_by_row();
    find_edges();
    make_rings(rows_needed());
    if (keeps_scratch_) keep_scratch();
    replace_chains();
  }

 private:
  const ProgramStep& step(size_t place) const { return program_.steps[first_ + place]; }

  BufferId root(BufferId id) const {
    while (const auto parent = program_[id].view_of) id = *parent;
    return id;
  }

  /// Steps are chained where the user asked for it, so what cannot be is theirs to mend.
  void refuse(size_t place, const std::string& why) const {
    const ProgramStep& refused = step(place);
    throw UserError(
        {.what = "cannot run band by band: " + why,
         .op = std::string(refused.family->op),
         .origin = {refused.origin.layer.empty() ? refused.name : refused.origin.layer, refused.origin.source},
         .details = {},
         .fix = "stream only layers before it, or only layers behind it"});
  }

  Rows rows_of(const Use& use) const {
    Rows rows{};
    std::memcpy(&rows, step(use.place).params.data() + step(use.place).rows_field[use.operand], sizeof rows);
    return rows;
  }

  bool has_rows(const Use& use) const {
    const std::vector<int>& fields = step(use.place).rows_field;
    return use.operand < fields.size() && fields[use.operand] >= 0;
  }

  void require_single_chains() const {
    for (const Chain& chain : program_.chains) {
      const auto first = static_cast<size_t>(chain.first_step), end = first + static_cast<size_t>(chain.step_count);
      if (chain.step_count > 1 && first < first_ + count_ && first_ < end)
        refuse(std::max(first, first_) - first_, "it is streamed with other layers already");
    }
  }

  void take_row_by_row() {
    for (size_t place = 0; place < count_; ++place) {
      ProgramStep& whole = program_.steps[first_ + place];
      if (whole.row_by_row) whole = ProgramStep(*whole.row_by_row);
    }
  }

  /// Each operand of a step of the chain that lies in the buffer or a view of it.
  std::vector<Use> uses_of(BufferId buffer) const {
    std::vector<Use> uses;
    for (size_t place = 0; place < count_; ++place) {
      for (size_t i = 0; i < step(place).operands.size(); ++i) {
        const BufferId used = step(place).operands[i].buffer;
        if (touches(used, buffer)) uses.push_back({place, i});
      }
    }
    return uses;
  }

  RowDependency dependency_of(const Use& use) const {
    for (const RowDependency& dependency : step(use.place).row_dependencies) {
      if (dependency.operand == static_cast<int>(use.operand) && dependency.span > 0) return dependency;
    }
    refuse(use.place, "it needs all of its input at once");
    return {};
  }

  void find_edges() {
    for (size_t place = 0; place < count_; ++place) {
      for (size_t i = 0; i < step(place).operands.size(); ++i) {
        if (step(place).operands[i].buffer.valid() && is_written(step(place), i)) add_edges({place, i});
      }
    }
    for (size_t place = 0; place < count_; ++place) {
      const auto producers = std::ranges::count(edges_, place, &Edge::consumer);
      if (producers > 2) refuse(place, "it reads more than two maps that are streamed too");
      if (producers == 0 && place > 0) pace(place);
    }
  }

  /// A step that waits for nobody would run to its end at once; it keeps pace with the first step instead.
  void pace(size_t place) {
    const int stride = std::max(1, step(0).rows / step(place).rows);
    edges_.push_back({0, place, {.operand = -1, .stride = stride, .lead = 0}, {}});
  }

  void add_edges(const Use& written) {
    for (const Use& read : uses_of(step(written.place).operands[written.operand].buffer)) {
      if (read.place == written.place || is_written(step(read.place), read.operand)) continue;
      internal_check(read.place > written.place,
                     "make_chain: \"" + step(written.place).name + "\" overwrites a map of its chain");
      if (!has_rows(written)) refuse(written.place, "it does not make its output row by row");
      if (!has_rows(read)) refuse(read.place, "it needs all of its input at once");
      const Rows out = rows_of(written), in = rows_of(read);
      if (out.row_bytes != in.row_bytes || out.ring_rows != in.ring_rows || out.ring_rows != step(written.place).rows)
        refuse(read.place, "it sees its input in another shape than the layer before it");
      edges_.push_back(
          {written.place, read.place, dependency_of(read), root(step(read.place).operands[read.operand].buffer)});
    }
  }

  /// The first row of a producer's map that a consumer will still read.
  int oldest_needed(size_t producer, const std::vector<int>& done) const {
    int oldest = step(producer).rows;
    for (const Edge& edge : edges_) {
      if (edge.producer != producer || !edge.buffer.valid() || done[edge.consumer] >= step(edge.consumer).rows)
        continue;
      const RowDependency& d = edge.dependency;
      oldest = std::min(oldest, std::max(0, (done[edge.consumer] + 1) * d.stride + d.lead - d.span));
    }
    return oldest;
  }

  /// Plays the runtime's order: for each step, how many rows of its map live at once at most.
  std::vector<uint32_t> rows_needed() const {
    std::vector<uint32_t> needed(count_, 1);
    std::vector<int> done(count_, 0);
    Chain chain{static_cast<int>(first_), static_cast<int>(count_), links()};
    const bool ends = play_chain(program_, chain, [&](int played, int, int end) {
      const auto place = static_cast<size_t>(played) - first_;
      const int oldest = std::min(end - 1, oldest_needed(place, done));
      needed[place] = std::max(needed[place], static_cast<uint32_t>(end - oldest));
      done[place] = end;
    });
    internal_check(ends, "make_chain: a step is never ready");
    return needed;
  }

  bool touches(BufferId operand, BufferId buffer) const { return operand.valid() && root(operand) == root(buffer); }

  bool is_port(BufferId id) const {
    const auto is_it = [&](const ProgramPort& port) { return touches(port.buffer, id); };
    return std::ranges::any_of(program_.entries, [&](const Entry& entry) {
      return std::ranges::any_of(entry.inputs, [&](const ProgramPort& p) { return !p.line_fed && is_it(p); }) ||
             std::ranges::any_of(entry.outputs, is_it);
    });
  }

  /// A map that only this chain uses: all of its rows, or a part of each.
  bool is_private(BufferId id, uint32_t row_bytes) const {
    if (program_[id].kind != BufferKind::kArena || program_[id].view_of || is_port(id)) return false;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const bool inside = s >= first_ && s < first_ + count_;
      for (const OperandRef& operand : program_.steps[s].operands) {
        if (touches(operand.buffer, id) && (!inside || operand.buffer != id || operand.offset >= row_bytes))
          return false;
      }
    }
    return true;
  }

  /// A ring holds what the most advanced of its writers and the last of its readers are apart.
  void make_rings(const std::vector<uint32_t>& needed) {
    std::map<BufferId, uint32_t> ring_rows;
    for (const Edge& edge : edges_) {
      if (!edge.buffer.valid()) continue;
      uint32_t& rows = ring_rows[edge.buffer];
      rows = std::max(rows, needed[edge.producer]);
    }
    for (const auto& [buffer, rows] : ring_rows) make_ring(buffer, rows);
  }

  void make_ring(BufferId buffer, uint32_t ring_rows) {
    const std::vector<Use> uses = uses_of(buffer);
    const Rows rows = rows_of(uses.front());
    const Rows ring{rows.row_bytes, static_cast<uint16_t>(ring_rows),
                    static_cast<uint16_t>((0x8000u + ring_rows - 1) / ring_rows)};
    if (ring_rows >= rows.ring_rows || !rows_hold(ring, rows.ring_rows) || !is_private(buffer, rows.row_bytes)) return;
    for (const Use& use : uses) {
      ProgramStep& user = program_.steps[first_ + use.place];
      std::memcpy(user.params.data() + user.rows_field[use.operand], &ring, sizeof ring);
    }
    program_[buffer].bytes = rows_bytes(ring);
  }

  void keep_scratch() {
    for (size_t place = 0; place < count_; ++place) {
      ProgramStep& keeper = program_.steps[first_ + place];
      if (keeper.keeps_field < 0) continue;
      keeper.params.at(static_cast<size_t>(keeper.keeps_field)) = 1;
      const auto scratch = static_cast<size_t>(keeper.family->host->scratch_operand);
      program_[keeper.operands.at(scratch).buffer].across_bands = true;
    }
  }

  /// Of a band; a link has a byte for it.
  int band_rows(size_t place) const {
    if (is_fed(place) || band_rows_.empty()) return 1;
    return std::clamp(band_rows_.at(place), 1, 255);
  }

  /// The first band is as high as makes the bands' ends those that the reader which waits for most rows asks for: then
  /// no band begins before it must, and rings hold no row too many.
  int first_rows(size_t place) const {
    const Edge* closest = nullptr;
    for (const Edge& edge : edges_) {
      if (edge.producer == place && (closest == nullptr || edge.dependency.lead > closest->dependency.lead))
        closest = &edge;
    }
    const int rows = band_rows(place);
    if (closest == nullptr || rows == 1) return rows;
    const int wanted = first_rows(closest->consumer) * closest->dependency.stride + closest->dependency.lead;
    return wanted > 0 && wanted % rows != 0 ? wanted % rows : rows;
  }

  bool is_fed(size_t place) const { return step(place).family->host->contract->written == 0; }

  ChainLink link_of(size_t place) const {
    ChainLink link{.band_rows = static_cast<uint8_t>(band_rows(place)),
                   .first_rows = static_cast<uint8_t>(first_rows(place)),
                   .producers = {}};
    for (const Edge& edge : edges_) {
      if (edge.consumer == place)
        link.producers.emplace_back(static_cast<int>(first_ + edge.producer), edge.dependency);
    }
    return link;
  }

  std::vector<ChainLink> links() const {
    std::vector<ChainLink> all;
    for (size_t place = 0; place < count_; ++place) all.push_back(link_of(place));
    return all;
  }

  void replace_chains() {
    auto& chains = program_.chains;
    const auto begin = std::ranges::find(chains, static_cast<int>(first_), &Chain::first_step);
    internal_check(chains.end() - begin >= static_cast<ptrdiff_t>(count_),
                   "make_chain: no chain begins at the first step");
    const auto end = begin + static_cast<ptrdiff_t>(count_);
    const int index = static_cast<int>(begin - chains.begin());
    begin->step_count = static_cast<int>(count_);
    begin->links = links();
    chains.erase(begin + 1, end);
    renumber_entries(index);
  }

  void renumber_entries(int index) {
    const int gone = static_cast<int>(count_) - 1;
    for (Entry& entry : program_.entries) {
      const int end = entry.first_chain + entry.chain_count;
      if (entry.first_chain > index) {
        internal_check(entry.first_chain > index + gone, "make_chain: the steps belong to two entries");
        entry.first_chain -= gone;
      } else if (end > index) {
        internal_check(end > index + gone, "make_chain: the steps belong to two entries");
        entry.chain_count -= gone;
      }
    }
  }

  Program& program_;
  size_t first_;
  size_t count_;
  const std::vector<int>& band_rows_;
  const bool keeps_scratch_;
  std::vector<Edge> edges_;
};

}  // namespace

void make_chain(Program& program, int first_step, int step_count, const std::vector<int>& band_rows,
                bool keeps_scratch) {
  ChainMaker(program, first_step, step_count, band_rows, keeps_scratch).make();
}

}  // namespace rush
