// SPDX-License-Identifier: Apache-2.0
//
// Every kernel, as scalar cores link it.
#include "full_table.h"

namespace rush {

#define RUSH_KERNEL(id, family, op, scalar, dsp, mve) \
  extern const KernelContract family##_contract;      \
  Kernel family##_##scalar;
#include "ops.def"

namespace {

const KernelEntry kEntries[] = {
#define RUSH_KERNEL(id, family, op, scalar, dsp, mve) {family##_##scalar, &family##_contract},
#include "ops.def"
};

}  // namespace
}  // namespace rush

const rush_kernel_table rush_full_table = {rush::full_table_id(rush::Isa::kScalar), rush::kAllKernelCount,
                                           static_cast<uint16_t>(rush::Isa::kScalar), rush::kEntries};
