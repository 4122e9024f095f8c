// SPDX-License-Identifier: Apache-2.0
//
// Graph(quantized) -> Program: every node becomes kernel calls over buffers, for one class of cores.
#pragma once

#include <string>

#include "compiler/ir/graph.h"
#include "ops/program.h"

namespace rush {

/// Lowers every node; entry 0, "main", is the inference. A graph with states also gets the entry "init", which
/// sets them. `opt` is what kernels are chosen for. Throws a UserError with every node that has no kernel on this class
/// of cores.
Program lower_graph(const Graph& graph, Isa isa, const std::string& target, Opt opt = Opt::kBalanced);

}  // namespace rush
