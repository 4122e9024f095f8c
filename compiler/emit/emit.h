// SPDX-License-Identifier: Apache-2.0
//
// The last stage: a planned Program becomes the bytes of an image. Same program, same bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ops/program.h"

namespace rush {

struct EmitOptions {
  bool full_kernel_table = false;  ///< number the kernels as ops.def lists them, not only those used
  bool debug = true;               ///< keep layer names and source lines
  bool costs = false;              ///< add modelled cycles, for rush_run_some()
};

/// Writes the image, placing the constants in it. The program must be planned. Throws InternalError, naming the
/// step, where a kernel would touch bytes outside its operands, and UserError where the image outgrows an operand.
std::vector<uint8_t> emit_image(const Program& program, const EmitOptions& options = {});

/// Kernel ids of the steps in ascending order, or of all families.
std::vector<uint16_t> kernel_ids(const Program& program, const EmitOptions& options);

/// The id of a kernel table: CRC-32 of the class of cores and the kernel ids, as little-endian 16-bit numbers.
uint32_t kernel_table_id(Isa isa, std::span<const uint16_t> ids);

/// Bound of the stack that opening and running the program needs, kernels and core, on any core.
uint32_t stack_bound(const Program& program);

}  // namespace rush
