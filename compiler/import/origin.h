// SPDX-License-Identifier: Apache-2.0
//
// From the exported metadata to the user's own layer and line.
#pragma once

#include <string>
#include <string_view>

#include "compiler/import/pt2_schema.h"
#include "compiler/ir/graph.h"

namespace rush {

/// The innermost module's path ("block1.conv1.0") from an nn_module_stack, or an empty string: entries
/// "key,path,type" are separated by ";", the path may begin with "L__self__" or "L['self']".
std::string module_path(std::string_view module_stack);

/// "model.py:41": the innermost frame of a Python stack trace that is not PyTorch's own or generated code.
std::string user_line(std::string_view stack_trace);

/// Layer (the node's name where it is in no named module) and line.
Origin origin_of(const pt2::NodeRecord& node);

/// Nodes that the quantizer or the importer made stand outside the user's modules: each takes the origin of the
/// operator that makes its input, or else of the one that reads its output.
void borrow_origins(Graph& graph);

}  // namespace rush
