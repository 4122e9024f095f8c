// SPDX-License-Identifier: Apache-2.0
//
// What a user may want to know of a kernel call: why the target runs it by this family, and which sizes would suit the
// kernel better.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/cost.h"

namespace rush {

/// A sentence without its end, e.g. "rows of windows are read where they lie".
std::string kernel_reason(Isa isa, std::string_view family, const void* params);

/// A number of channels that the kernel does more with, by the cost model.
struct SizeAdvice {
  std::string_view what;  ///< "input channels"
  uint32_t now = 0;
  uint32_t better = 0;
  double work = 1;  ///< of the better one, as a multiple of now
  double time = 1;
};

/// Numbers of channels a little larger, each alone, that do at least a tenth more work in the same time.
std::vector<SizeAdvice> advise_sizes(const CostCore& core, std::string_view family, const void* params);

}  // namespace rush
