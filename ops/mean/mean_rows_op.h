// SPDX-License-Identifier: Apache-2.0
//
// The row-by-row alternative of a mean over a whole map, for chains (ProgramStep::row_by_row).
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

}  // namespace rush
