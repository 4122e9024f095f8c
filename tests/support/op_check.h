// SPDX-License-Identifier: Apache-2.0
//
// One test for every operator, variant and core: a graph's reference against its kernels, bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "ops/program.h"

namespace rush {

/// Fails the running test, naming `name` and `seed`, unless the graph's outputs for random and for extreme inputs are
/// the reference's (run_graph) in each of these runs:
/// - the scalar kernels, operand by operand between guards, in random bands (isolated_run.h);
/// - the image of each class of cores, planned, through the device's own core, kernels and packings of the host;
/// - the same with no two buffers sharing memory, at the oddest addresses that their alignment allows.
/// The images are recorded for the boards (device_suite.h). `images_for_boards`: false for graphs too large for them.
struct OpCheck {
  std::string name;
  uint64_t seed = 0;
  bool images_for_boards = true;
  Opt opt = Opt::kBalanced;
};
void check_op(const Graph& graph, const OpCheck& check);
inline void check_op(const Graph& graph, const std::string& name, uint64_t seed) { check_op(graph, {name, seed}); }

/// Every buffer by itself, the first at offset 1 if its alignment is 1: what a planner never does.
void place_apart(Program& program);

/// Index and values of the first element that differs, or empty if the tensors are the same bytes.
std::string first_difference(const HostTensor& got, const HostTensor& expected);

}  // namespace rush
