// SPDX-License-Identifier: Apache-2.0
#include "ops/choose_kernel.h"

#include <algorithm>

#include "ops/code_bytes.h"
#include "ops/cost.h"

namespace rush {
namespace {

/// What a byte of flash is worth, in cycles of an inference. A layer pays for its weights alone, for code with others.
struct Price {
  double weights;
  double code;
};

Price price_of_bytes(Opt opt) {
  switch (opt) {
    case Opt::kSpeed:
      return {0, 0};
    case Opt::kBalanced:
      return {1, 1};
    case Opt::kSize:
      return {64, 1};
  }
  throw InternalError("an optimization without a price");
}

size_t weight_bytes(const Lowering& lowering, const KernelCandidate& candidate) {
  const Packing& packing = candidate.family->host->packing;
  return packing.operand < 0 ? 0
                             : packing.packed_count(lowering.isa(), candidate.params.data()) * packing.element_bytes;
}

double price(const Lowering& lowering, const KernelCandidate& candidate) {
  const CostCore core{lowering.isa(), lowering.program().target};
  const size_t code = is_linked(lowering, *candidate.family) ? 0 : family_code_bytes(core, candidate.family->name);
  const Price bytes = price_of_bytes(lowering.opt());
  return kernel_cycles(core, candidate.family->name, candidate.params.data()) +
         bytes.weights * static_cast<double>(weight_bytes(lowering, candidate)) +
         bytes.code * static_cast<double>(code);
}

}  // namespace

bool is_linked(const Lowering& lowering, const KernelFamily& family) {
  return std::ranges::find(lowering.program().steps, &family, &ProgramStep::family) != lowering.program().steps.end();
}

KernelCandidate choose_kernel(const Lowering& lowering, std::vector<KernelCandidate> candidates) {
  internal_check(!candidates.empty(), "choose_kernel: no candidate");
  return *std::ranges::min_element(candidates, {},
                                   [&](const KernelCandidate& candidate) { return price(lowering, candidate); });
}

}  // namespace rush
