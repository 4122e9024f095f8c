// SPDX-License-Identifier: Apache-2.0
//
// The error of a node whose inputs its operator cannot take.
#pragma once

#include <string>

#include "ops/op_def.h"

namespace rush {

/// Names the node and its line, lists its input types.
inline UserError node_error(const NodeTypes& types, std::string what, std::string fix) {
  Diagnostic diagnostic{.what = std::move(what),
                        .op = std::string(types.node.op.name()),
                        .origin = types.node.origin,
                        .details = {},
                        .fix = std::move(fix)};
  for (size_t i = 0; i < types.node.inputs.size(); ++i) {
    if (types.has_input(i)) diagnostic.details.push_back("input " + to_string(types.input(i)));
  }
  return UserError(std::move(diagnostic));
}

/// The same for types that no exporter writes together.
inline UserError damaged_node(const NodeTypes& types, std::string what) {
  return node_error(types, std::move(what), "the file is damaged or was changed by hand: export the model again");
}

}  // namespace rush
