// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes in, offsets out.
#include "compiler/plan/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/plan/lifetime.h"
#include "compiler/plan/placement.h"

namespace rush {
namespace {

uint64_t round_to_region(uint64_t bytes) { return (bytes + RUSH_ALIGNMENT - 1) / RUSH_ALIGNMENT * RUSH_ALIGNMENT; }

uint64_t lower_bound(const Tenants& tenants) {
  return std::max(tenants.most_live, pair_bound(tenants.blocks, tenants.conflicts));
}

Placement place(const Tenants& tenants) {
  // A region is a multiple of its alignment: below that nothing is gained.
  return place_blocks(tenants.blocks, tenants.conflicts, round_to_region(lower_bound(tenants)));
}

void check_size(const char* what, uint64_t bytes) {
  if (bytes <= kOperandOffsetMask) return;
  throw UserError(fmt::format("the model needs {} bytes of {}, more than an image can address", bytes, what),
                  "use a smaller input, or split the model");
}

}  // namespace

void plan_memory(Program& program) {
  const Lifetimes lifetimes = find_lifetimes(program);
  const Placement arena = place(lifetimes.arena), state = place(lifetimes.state);
  check_size("activations", arena.bytes);
  check_size("state", state.bytes);
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Member& member = lifetimes.members[i];
    if (member.block < 0) continue;
    const bool is_state = program.buffers[i].kind == BufferKind::kState;
    const std::vector<uint64_t>& offsets = is_state ? state.offsets : arena.offsets;
    program.buffers[i].region = is_state ? kStateRegion : kArenaRegion;
    program.buffers[i].offset = static_cast<uint32_t>(offsets[static_cast<size_t>(member.block)]) + member.offset;
  }
  program.regions = {{"arena", RegionKind::kArena, static_cast<uint32_t>(round_to_region(arena.bytes))}};
  if (state.bytes > 0)
    program.regions.push_back({"state", RegionKind::kState, static_cast<uint32_t>(round_to_region(state.bytes))});
}

PlanSummary describe_plan(const Program& program) {
  const Lifetimes lifetimes = find_lifetimes(program);
  PlanSummary summary;
  for (const RegionUse& region : program.regions)
    (region.kind == RegionKind::kState     ? summary.state_bytes
     : region.kind == RegionKind::kWeights ? summary.weights_bytes
                                           : summary.arena_bytes) += region.bytes;
  const Placement arena = place(lifetimes.arena);
  summary.lower_bound =
      static_cast<uint32_t>(round_to_region(arena.is_best ? arena.bytes : lower_bound(lifetimes.arena)));
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Member& member = lifetimes.members[i];
    if (member.block < 0) continue;
    const Buffer& buffer = program.buffers[i];
    summary.rows.push_back({.buffer = {static_cast<int32_t>(i)},
                            .region = buffer.region,
                            .offset = buffer.offset,
                            .bytes = buffer.bytes,
                            .first_step = member.first_step,
                            .last_step = member.last_step});
  }
  return summary;
}

}  // namespace rush
