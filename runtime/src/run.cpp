// SPDX-License-Identifier: Apache-2.0
//
// Running an accepted image. A chain of several steps advances by demand: each call runs one band of its last step
// that is ready, so that a row is used soon after it was made and the rings stay small.
#include "image_access.h"
#include "rushlight/kernel.h"

namespace rush {
namespace {

void run_band(const rush_context& context, const ImageStep& step, Band band) {
  const KernelEntry& kernel = context.kernels->entries[step.kernel];
  const uint32_t* const operands = elements<uint32_t>(context.image, SectionKind::kOperands) + step.first_operand;
  void* addresses[kMaxOperands];
  for (uint32_t i = 0; i < kernel.contract->operand_count; ++i) {
    addresses[i] = context.regions[operands[i] >> kOperandRegionShift] + (operands[i] & kOperandOffsetMask);
  }
  kernel.run(elements<uint8_t>(context.image, SectionKind::kParams) + step.params, addresses, band);
}

/// A chain of two or more steps, as it runs.
struct Chain {
  const ImageStep* steps;
  const ImageLink* links;
  uint16_t* done;
  uint32_t length;
};

uint32_t next_row(const Chain& chain, uint32_t place) {
  const uint32_t next = static_cast<uint32_t>(chain.done[place]) + chain.links[place].band_rows;
  return next < chain.steps[place].rows ? next : chain.steps[place].rows;
}

bool is_done(const Chain& chain, uint32_t place) { return chain.done[place] == chain.steps[place].rows; }

bool is_ready(const Chain& chain, uint32_t place) {
  const ImageLink& link = chain.links[place];
  for (uint32_t i = 0; i < 2; ++i) {
    const uint32_t producer = link.producer[i];
    if (producer == kNoProducer || is_done(chain, producer)) continue;
    const int32_t usable = static_cast<int32_t>(chain.done[producer]) - link.row_lead[i];
    if (usable < 0 || static_cast<uint32_t>(usable) < next_row(chain, place) * link.row_stride[i]) return false;
  }
  return true;
}

/// Runs one band; false if there is nothing left to do.
bool advance(const rush_context& context, const Chain& chain) {
  for (uint32_t place = chain.length; place-- > 0;) {
    if (is_done(chain, place) || !is_ready(chain, place)) continue;
    const uint32_t end = next_row(chain, place);
    run_band(context, chain.steps[place], {chain.done[place], static_cast<int32_t>(end)});
    chain.done[place] = static_cast<uint16_t>(end);
    return true;
  }
  return false;
}

void begin_chain(rush_context* context, const Chain& chain) {
  for (uint32_t place = 0; place < chain.length; ++place) chain.done[place] = 0;
  context->in_chain = 1;
}

/// One band of the chain; true if that was its last.
bool step_chain(rush_context* context, const Chain& chain) {
  if (context->in_chain == 0) begin_chain(context, chain);
  advance(*context, chain);
  for (uint32_t place = 0; place < chain.length; ++place) {
    if (!is_done(chain, place)) return false;
  }
  return true;
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
  if (context == nullptr || context->image == nullptr) return RUSH_BAD_ARGUMENT;
  if (context->chain == context->chain_end) return RUSH_OK;
  const ImageChain& image_chain = elements<ImageChain>(context->image, SectionKind::kChains)[context->chain];
  const ImageStep* const steps = elements<ImageStep>(context->image, SectionKind::kSteps) + image_chain.first_step;
  bool ended = true;
  if (image_chain.step_count == 1) {
    run_band(*context, *steps, {0, steps->rows});
  } else {
    const ImageLink* const links = elements<ImageLink>(context->image, SectionKind::kLinks) + image_chain.first_link;
    ended = step_chain(context, {steps, links, context->rows_done, image_chain.step_count});
  }
  if (!ended) return RUSH_RUNNING;
  context->in_chain = 0;
  return ++context->chain == context->chain_end ? RUSH_OK : RUSH_RUNNING;
}

extern "C" rush_status rush_run(rush_context* context, uint32_t entry) {
  rush_status status = rush_begin(context, entry);
  if (status == RUSH_OK) {
    do {
      status = rush_step(context);
    } while (status == RUSH_RUNNING);
  }
  return status;
}
