// SPDX-License-Identifier: Apache-2.0
//
// What linking takes, in the one place that knows: bytes of code of each kernel family on each core, and of the rest of
// the product. Estimates of flash are made of them; ops/code_bytes.def has the figures, which bench/fit.py measures.
#pragma once

#include <cstdint>
#include <string_view>

#include "ops/cost.h"

namespace rush {

/// Code of a family's kernel and what it calls. A core that the table lacks takes another one of its class; a family
/// that it lacks, 0.
uint32_t family_code_bytes(const CostCore& core, std::string_view family);

/// Runtime, start-up, and what they need of the compiler's library.
uint32_t runtime_code_bytes(const CostCore& core);

}  // namespace rush
