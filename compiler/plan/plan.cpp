// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes in, offsets out. Computing in place makes blocks that must stay where they are for long, which can
// cost more than it saves, so both ways are tried.
#include "compiler/plan/plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "compiler/plan/lifetime.h"
#include "compiler/plan/placement.h"

namespace rush {
namespace {

uint64_t round_to_region(uint64_t bytes) { return (bytes + RUSH_ALIGNMENT - 1) / RUSH_ALIGNMENT * RUSH_ALIGNMENT; }

std::vector<Block> blocks_of_kind(const Lifetimes& lifetimes, BufferKind kind) {
  std::vector<Block> out;
  for (size_t i = 0; i < lifetimes.blocks.size(); ++i) {
    if (lifetimes.kinds[i] == kind) out.push_back(lifetimes.blocks[i]);
  }
  return out;
}

/// States live always, whatever a run does with them.
std::vector<Block> state_blocks(const Lifetimes& lifetimes) {
  std::vector<Block> blocks = blocks_of_kind(lifetimes, BufferKind::kState);
  for (Block& block : blocks) {
    for (Piece& piece : block.pieces) piece.first = piece.last = 0;
  }
  return blocks;
}

struct Plan {
  Lifetimes lifetimes;
  Placement arena;
  Placement state;
};

Plan plan_with(const Program& program, InPlacePolicy policy) {
  Plan plan{find_lifetimes(program, policy), {}, {}};
  plan.arena = place_blocks(blocks_of_kind(plan.lifetimes, BufferKind::kArena));
  plan.state = place_blocks(state_blocks(plan.lifetimes));
  return plan;
}

void check_size(const char* what, uint64_t bytes) {
  if (bytes <= kOperandOffsetMask) return;
  throw UserError(fmt::format("the model needs {} bytes of {}, more than an image can address", bytes, what),
                  "use a smaller input, or split the model");
}

/// Offset of each block in its region, in the order of Lifetimes::blocks.
std::vector<uint32_t> block_offsets(const Plan& plan) {
  std::vector<uint32_t> offsets;
  size_t arena = 0, state = 0;
  for (const BufferKind kind : plan.lifetimes.kinds) {
    const uint64_t offset = kind == BufferKind::kState ? plan.state.offsets[state++] : plan.arena.offsets[arena++];
    offsets.push_back(static_cast<uint32_t>(offset));
  }
  return offsets;
}

}  // namespace

void plan_memory(Program& program) {
  Plan plan = plan_with(program, InPlacePolicy::kWhereAllowed);
  if (Plan apart = plan_with(program, InPlacePolicy::kNever); apart.arena.bytes < plan.arena.bytes)
    plan = std::move(apart);
  check_size("activations", plan.arena.bytes);
  check_size("state", plan.state.bytes);

  const std::vector<uint32_t> offsets = block_offsets(plan);
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Member& member = plan.lifetimes.members[i];
    if (member.block < 0) continue;
    const auto block = static_cast<size_t>(member.block);
    program.buffers[i].region = plan.lifetimes.kinds[block] == BufferKind::kState ? kStateRegion : kArenaRegion;
    program.buffers[i].offset = offsets[block] + member.offset;
  }
  program.regions = {{"arena", RegionKind::kArena, static_cast<uint32_t>(round_to_region(plan.arena.bytes))}};
  if (plan.state.bytes > 0)
    program.regions.push_back({"state", RegionKind::kState, static_cast<uint32_t>(round_to_region(plan.state.bytes))});
}

PlanSummary describe_plan(const Program& program) {
  const Lifetimes lifetimes = find_lifetimes(program, InPlacePolicy::kWhereAllowed);
  PlanSummary summary;
  for (const RegionUse& region : program.regions)
    (region.kind == RegionKind::kState ? summary.state_bytes : summary.arena_bytes) += region.bytes;
  const uint64_t bound = most_live_bytes(blocks_of_kind(lifetimes, BufferKind::kArena));
  summary.lower_bound = static_cast<uint32_t>(round_to_region(bound));
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
