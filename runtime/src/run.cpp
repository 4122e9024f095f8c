// SPDX-License-Identifier: Apache-2.0
//
// Running an accepted image. A chain of several steps advances by demand: each call runs one band of its last step
// that is ready, so that a row is used soon after it was made and the rings stay small.
#include <string.h>

#include "image_access.h"
#include "rushlight/kernel.h"

namespace rush {
namespace {

/// A chain as it runs.
struct Chain {
  const ImageStep* steps;
  const ImageLink* links;
  uint16_t* done;
  uint16_t length;
  uint16_t alone_rows;  ///< of a step that runs alone, so many rows at a time: it has no link
};

/// False if the step stands for rows that the caller gives.
inline bool run_band(const rush_context& context, const ImageStep& step, Band band) {
  const KernelEntry& kernel = context.kernels->entries[step.kernel];
  const KernelContract& contract = *kernel.contract;
  if (contract.written == 0) return false;
  const uint32_t* const operands = elements<uint32_t>(context.image, SectionKind::kOperands) + step.first_operand;
  void* addresses[kMaxOperands];
  for (uint32_t i = contract.operand_count; i-- > 0;) {
    addresses[i] = context.regions[operands[i] >> kOperandRegionShift] + (operands[i] & kOperandOffsetMask);
  }
  kernel.run(elements<uint8_t>(context.image, SectionKind::kParams) + step.params, addresses, band);
  return true;
}

inline bool is_done(const Chain& chain, uint32_t place) { return chain.done[place] == chain.steps[place].rows; }

/// Whether all producers of a step have done what its rows up to `end` need.
inline bool is_ready(const Chain& chain, const ImageLink& link, uint32_t end) {
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t producer = link.producer[i];
    if (producer == kNoProducer || is_done(chain, producer)) continue;
    const int32_t usable = static_cast<int32_t>(chain.done[producer]) - link.row_lead[i];
    if (usable < static_cast<int32_t>(end * link.row_stride[i])) return false;
  }
  return true;
}

/// A step that is to run, and the row that its band ends before.
struct NextBand {
  uint32_t place;
  uint32_t end;
};

/// The last step that is ready, `from` on; producers stand in front, so there is one until all are done. Only a damaged
/// image can send the search past the first step: then it begins anew.
NextBand next_band(const Chain& chain, uint32_t from) {
  for (uint32_t place = from;; place = place == 0 ? chain.length - 1u : place - 1) {
    const uint32_t done = chain.done[place], rows = chain.steps[place].rows;
    if (chain.length == 1) return {0, done + chain.alone_rows < rows ? done + chain.alone_rows : rows};
    if (done == rows) continue;
    const ImageLink& link = chain.links[place];
    uint32_t end = done + (done == 0 && link.first_rows != 0 ? link.first_rows : link.band_rows);
    if (end > rows) end = rows;
    if (is_ready(chain, link, end)) return {place, end};
  }
}

bool all_done(const Chain& chain) {
  for (uint32_t place = chain.length; place-- > 0;) {
    if (!is_done(chain, place)) return false;
  }
  return true;
}

/// The chain that runs now.
Chain current_chain(rush_context* context, uint16_t alone_rows) {
  const ImageChain& chain = elements<ImageChain>(context->image, SectionKind::kChains)[context->chain];
  const ImageLink* const links = elements<ImageLink>(context->image, SectionKind::kLinks) + chain.first_link;
  if (context->in_chain == 0) {
    for (uint32_t place = 0; place < chain.step_count; ++place) context->rows_done[place] = 0;
    context->in_chain = chain.step_count;
  }
  return {elements<ImageStep>(context->image, SectionKind::kSteps) + chain.first_step, links, context->rows_done,
          chain.step_count, alone_rows};
}

/// Notes rows done, and behind which step the next band need not be looked for; true if the chain has ended.
inline bool end_band(rush_context* context, const Chain& chain, const NextBand& band) {
  chain.done[band.place] = static_cast<uint16_t>(band.end);
  const uint32_t reader = chain.length == 1 ? 0 : chain.links[band.place].last_reader;
  context->in_chain = static_cast<uint16_t>(reader == 0 || reader >= chain.length ? chain.length : reader + 1);
  if (band.end != chain.steps[band.place].rows || !all_done(chain)) return false;
  context->in_chain = 0;
  ++context->chain;
  return true;
}

rush_status status_of(const rush_context& context) {
  return context.chain == context.chain_end ? RUSH_OK : RUSH_RUNNING;
}

/// Runs a step alone, all of its rows at once, without the accounts of a chain. False where that cannot be.
bool run_whole_step(rush_context* context) {
  if (context->in_chain != 0) return false;
  const ImageChain& chain = elements<ImageChain>(context->image, SectionKind::kChains)[context->chain];
  if (chain.step_count != 1) return false;
  const ImageStep& step = elements<ImageStep>(context->image, SectionKind::kSteps)[chain.first_step];
  if (!run_band(*context, step, {0, step.rows})) return false;
  ++context->chain;
  return true;
}

enum : uint16_t { kAllRows = 0xffff };
enum : uint32_t { kAllBands = 0xffffffffu };

/// Up to `most` bands of the current chain; a step that runs alone does `rows` rows a band.
rush_status run_bands(rush_context* context, uint16_t rows, uint32_t most) {
  if (rows == kAllRows && run_whole_step(context)) return status_of(*context);
  const Chain chain = current_chain(context, rows);
  for (; most != 0; --most) {
    const NextBand next = next_band(chain, context->in_chain - 1u);
    const Band band = {chain.done[next.place], static_cast<int32_t>(next.end)};
    if (!run_band(*context, chain.steps[next.place], band)) return RUSH_NEEDS_ROWS;
    if (end_band(context, chain, next)) break;
  }
  return status_of(*context);
}

inline bool is_open(const rush_context* context) { return context != nullptr && context->image != nullptr; }

/// The caller's row into the map of the step that waits for it; returns its bytes. Not inlined: its locals need not lie
/// below a kernel's.
__attribute__((noinline)) uint32_t take_row(rush_context* context, const uint8_t* row) {
  const Chain chain = current_chain(context, 1);
  const uint32_t place = next_band(chain, context->in_chain - 1u).place, y = chain.done[place];
  const ImageStep& step = chain.steps[place];
  const FeedParams& params =
      *reinterpret_cast<const FeedParams*>(elements<uint8_t>(context->image, SectionKind::kParams) + step.params);
  const uint32_t operand = elements<uint32_t>(context->image, SectionKind::kOperands)[step.first_operand];
  uint8_t* const map = context->regions[operand >> kOperandRegionShift] + (operand & kOperandOffsetMask);
  memcpy(map + row_offset(params.map, y), row, params.map.row_bytes);
  end_band(context, chain, {place, y + 1});
  return params.map.row_bytes;
}

/// Modelled cycles of a row of each step, or null.
const uint32_t* row_costs(const uint8_t* image) {
  const ImageHeader& header = *reinterpret_cast<const ImageHeader*>(image);
  const ImageSection* s = &section(image, SectionKind::kRegions);
  for (uint32_t left = header.section_count; left > 0; --left, ++s) {
    if (s->kind != static_cast<uint16_t>(SectionKind::kCosts)) continue;
    return s->bytes == 4 * section(image, SectionKind::kSteps).count
               ? reinterpret_cast<const uint32_t*>(image + s->offset)
               : nullptr;
  }
  return nullptr;
}

/// The most rows, a power of two, that `cycles` are enough for; at least one.
uint16_t affordable_rows(uint32_t row_cycles, uint32_t cycles) {
  uint16_t rows = 1;
  while (rows < 0x8000u && row_cycles <= (cycles >> 1)) {
    rows = static_cast<uint16_t>(rows << 1);
    cycles >>= 1;
  }
  return rows;
}

/// How many rows the next step does if it runs alone, and what its band costs.
struct PricedBand {
  uint16_t alone_rows;
  uint32_t cycles;
};

/// Without costs any band takes all that is left.
__attribute__((noinline)) PricedBand price_band(rush_context* context, uint32_t cycles) {
  const uint32_t* const costs = row_costs(context->image);
  const uint32_t first = elements<ImageChain>(context->image, SectionKind::kChains)[context->chain].first_step;
  const uint16_t alone_rows = affordable_rows(costs == nullptr ? cycles : costs[first], cycles);
  const Chain chain = current_chain(context, alone_rows);
  const NextBand next = next_band(chain, context->in_chain - 1u);
  const uint32_t rows = next.end - chain.done[next.place];
  return {alone_rows, costs == nullptr ? cycles : saturating_multiply(rows, costs[first + next.place])};
}

}  // namespace
}  // namespace rush

extern "C" rush_status rush_begin(rush_context* context, uint32_t entry) {
  using namespace rush;
  if (entry >= rush_entry_count(context)) return RUSH_BAD_ARGUMENT;
  const ImageEntry& e = elements<ImageEntry>(context->image, SectionKind::kEntries)[entry];
  context->chain = e.first_chain;
  context->chain_end = static_cast<uint16_t>(e.first_chain + e.chain_count);
  context->in_chain = 0;
  return RUSH_OK;
}

extern "C" rush_status rush_step(rush_context* context) {
  using namespace rush;
  if (!is_open(context)) return RUSH_BAD_ARGUMENT;
  return status_of(*context) == RUSH_OK ? RUSH_OK : run_bands(context, kAllRows, 1);
}

extern "C" uint32_t rush_next_step(rush_context* context) {
  using namespace rush;
  if (!is_open(context) || status_of(*context) == RUSH_OK) return RUSH_NO_STEP;
  const Chain chain = current_chain(context, kAllRows);
  const uint32_t first = elements<ImageChain>(context->image, SectionKind::kChains)[context->chain].first_step;
  return first + next_band(chain, context->in_chain - 1u).place;
}

extern "C" rush_status rush_run(rush_context* context, uint32_t entry) {
  using namespace rush;
  rush_status status = rush_begin(context, entry);
  if (status == RUSH_OK) status = status_of(*context);
  while (status == RUSH_RUNNING) status = run_bands(context, kAllRows, kAllBands);
  return status;
}

extern "C" rush_status rush_run_some(rush_context* context, uint32_t cycles) {
  using namespace rush;
  if (!is_open(context)) return RUSH_BAD_ARGUMENT;
  rush_status status = status_of(*context);
  while (status == RUSH_RUNNING) {
    const PricedBand next = price_band(context, cycles);
    status = run_bands(context, next.alone_rows, 1);
    if (next.cycles >= cycles) break;
    cycles -= next.cycles;
  }
  return status;
}

extern "C" rush_status rush_feed_rows(rush_context* context, const void* rows, uint32_t count) {
  using namespace rush;
  if (!is_open(context) || (rows == nullptr && count != 0)) return RUSH_BAD_ARGUMENT;
  const uint8_t* row = static_cast<const uint8_t*>(rows);
  rush_status status = status_of(*context);
  while (status == RUSH_RUNNING || (status == RUSH_NEEDS_ROWS && count != 0)) {
    if (status == RUSH_NEEDS_ROWS) {
      row += take_row(context, row);
      --count;
      status = status_of(*context);
    }
    if (status == RUSH_RUNNING) status = run_bands(context, kAllRows, kAllBands);
  }
  return status;
}
