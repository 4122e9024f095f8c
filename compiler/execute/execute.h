// SPDX-License-Identifier: Apache-2.0
//
// Runs a graph on the host, node by node, with each operator's reference. Inputs and outputs are tensors in the
// form of the graph's own memory; ports.h converts from and to what the user exported.
#pragma once

#include <functional>
#include <vector>

#include "compiler/ir/graph.h"

namespace rush {

/// Called with every node's outputs as they are computed.
using Observe = std::function<void(const Node& node, size_t output, const HostTensor& value)>;

/// A graph with its states; each run leaves them as the next run finds them.
class GraphExecutor {
 public:
  explicit GraphExecutor(const Graph& graph);  ///< keeps a reference

  /// One inference. Throws InternalError where an input does not have its tensor's type.
  std::vector<HostTensor> run(const std::vector<HostTensor>& inputs, const Observe& observe = {});

  /// States as at the start.
  void reset();

 private:
  const Graph& graph_;
  std::vector<int> reads_;  ///< by tensor: how many nodes read it
  std::vector<HostTensor> states_;
};

/// One inference from the initial states.
std::vector<HostTensor> run_graph(const Graph& graph, const std::vector<HostTensor>& inputs,
                                  const Observe& observe = {});

}  // namespace rush
