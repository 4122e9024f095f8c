// SPDX-License-Identifier: Apache-2.0
//
// Every kernel, as dsp cores link it.
#include "full_table.h"

namespace rush {

#define RUSH_KERNEL(id, family, op, scalar, dsp, mve) \
  extern const KernelContract family##_contract;      \
  Kernel family##_##dsp;
#include "ops.def"

namespace {

const KernelEntry kEntries[] = {
#define RUSH_KERNEL(id, family, op, scalar, dsp, mve) {family##_##dsp, &family##_contract},
#include "ops.def"
};

}  // namespace
}  // namespace rush

const rush_kernel_table rush_full_table = {rush::full_table_id(rush::Isa::kDsp), rush::kAllKernelCount,
                                           static_cast<uint16_t>(rush::Isa::kDsp), rush::kEntries};
