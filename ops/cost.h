// SPDX-License-Identifier: Apache-2.0
//
// The cost model: what a kernel call takes on a core, in the one place that knows. Lowering chooses kernels
// (ops/choose_kernel.h) and the planner schedules by it, `estimate` and the reports estimate layers by it, and the
// bench holds it against measurement (docs/benchmarks.md).
//
// A call's cycles are a sum of terms, each a count that its parameters give (rows, positions, blocks of outputs,
// vectors of products, ...) times a constant of the core and the family. ops/cost_constants.def has the constants,
// which bench/fit.py measures.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rushlight/image.h"

namespace rush {

enum : size_t { kCostTerms = 9 };

/// What a call does. Term 0 is 1: what any call costs. The others are the family's, see cost.cpp.
using KernelWork = std::array<double, kCostTerms>;

/// Families that it does not know are taken by the bytes that they write and read.
KernelWork kernel_work(Isa isa, std::string_view family, const void* params);

/// The name of the constants that a call's work is multiplied by: the family's, or one of two where its kernel has two
/// ways of working.
std::string_view cost_row(Isa isa, std::string_view family, const void* params);

/// Names the core whose cycles are asked for, by its target's name. A core that the table lacks takes the constants of
/// another one of its class.
struct CostCore {
  Isa isa;
  std::string_view target;
};

/// The measured core that stands for one that the tables lack: of the same make, or typical of the class.
std::string_view stand_in(const CostCore& core);

/// Modelled cycles of one call over all rows.
double kernel_cycles(const CostCore& core, std::string_view family, const void* params);

/// The same of calls that make all `rows` rows, `band_rows` at a time, but for what it takes to start each.
double banded_cycles(const CostCore& core, std::string_view family, const void* params, int rows, int band_rows);

}  // namespace rush
