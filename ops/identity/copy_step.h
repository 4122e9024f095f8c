// SPDX-License-Identifier: Apache-2.0
//
// Steps that copy, for every operator that only moves data.
#pragma once

#include <cstdint>

#include "ops/op_def.h"
#include "ops/program.h"

namespace rush {

/// `bytes` bytes from one place to another.
ProgramStep copy_step(OperandRef from, OperandRef to, uint32_t bytes);

/// `rows` rows of `segments` pieces of `segment_bytes`; pitches in bytes.
struct StridedCopy {
  uint16_t rows = 1;
  uint32_t segments = 1;
  uint32_t segment_bytes = 0;
  uint32_t in_pitch = 0;
  uint32_t out_pitch = 0;
  uint32_t in_row_bytes = 0;
  uint32_t out_row_bytes = 0;
};
ProgramStep copy_step(OperandRef from, OperandRef to, const StridedCopy& copy);

/// The node's output shares its input's bytes; or is a copy, where a model's input or a constant would otherwise be
/// its output too: a caller who writes the next input must not change the last output.
void view_or_copy(const NodeTypes& types, Lowering& lowering);

}  // namespace rush
