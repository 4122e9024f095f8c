// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the program stage on x86-64 hosts with AVX2, for the families that take most of a data set's time. They
// have the same result as the scalar variants, which run elsewhere and for all other families, and are held to it by
// the same tests.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rushlight/kernel.h"

namespace rush {

struct WideKernel {
  std::string_view family;
  Kernel* run;
  /// The packed operand's bytes as this kernel reads them, from their canonical order.
  std::vector<uint8_t> (*weights)(const void* params, std::span<const uint8_t> canonical);
};

/// Null where the family has none, the machine cannot run it, or RUSHLIGHT_WIDE_KERNELS is 0.
const WideKernel* find_wide_kernel(std::string_view family);

}  // namespace rush
