// SPDX-License-Identifier: Apache-2.0
//
// 1-D maps [N,C,L] become maps of height 1, [N,C,1,L], so that there is one set of spatial operators. A value keeps
// both forms: operators that do not care are applied to the map, and the reshape back to a line is only there if
// somebody reads it. A chain of 1-D layers so becomes a chain of 2-D layers without a reshape in between.
#pragma once

#include <map>
#include <vector>

#include "compiler/import/graph_writer.h"

namespace rush {

class LineMaps {
 public:
  explicit LineMaps(GraphWriter& writer) : writer_(writer) {}

  /// [N,C,L] -> [N,C,1,L]. Goes through quantize, dequantize and constants, so that the reshape stands before them.
  TensorId to_map(TensorId line, const Origin& origin);
  /// [N,C,1,L] -> [N,C,L], remembering the map.
  TensorId to_line(TensorId map);
  bool has_map(TensorId line) const { return maps_.contains(line); }

 private:
  TensorId make_map(TensorId line, const Origin& origin, int depth);
  TensorId reshaped_early(TensorId id, const Shape& shape, const Origin& origin, int depth);
  TensorId remade(const Node& node, TensorId input, TensorId original);
  TensorId reshaped(TensorId id, const Shape& shape, const Origin& origin);

  GraphWriter& writer_;
  std::map<TensorId, TensorId> maps_;
  std::map<std::pair<TensorId, Shape>, TensorId> reshapes_;
};

}  // namespace rush
