// SPDX-License-Identifier: Apache-2.0
//
// A mean over a whole map, row by row: for chains (ProgramStep::row_by_row), and wherever else it is the better kernel.
#pragma once

#include <memory>

#include "ops/mean/mean_rows.h"
#include "ops/op_def.h"

namespace rush {

/// A map [1,rows,columns,channels] and the scale of its sums, zero points included.
struct MeanOfMap {
  int64_t rows;
  int64_t columns;
  int64_t channels;
  AverageScale scale;
  int32_t offset;
  Range range;
};

/// Null where the kernel does not take the map.
std::shared_ptr<ProgramStep> mean_rows_step(const NodeTypes& types, Lowering& lowering, const MeanOfMap& mean);

/// Whether that kernel is better outside chains too: with SMLAD and Helium it is a third of the code.
inline bool prefers_mean_rows(const Lowering& lowering) { return lowering.isa() != Isa::kScalar; }

/// The step outside of chains: a map of few enough pixels is one row. It can still be taken row by row.
ProgramStep in_one_piece(const std::shared_ptr<ProgramStep>& by_rows);

}  // namespace rush
