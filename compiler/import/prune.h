// SPDX-License-Identifier: Apache-2.0
//
// Drops what no output and no state depends on: results that the exported model computed for nobody, and the other
// form of 1-D maps. Tensors are numbered anew.
#pragma once

#include "compiler/ir/graph.h"

namespace rush {

Graph prune_unused(Graph graph);

}  // namespace rush
