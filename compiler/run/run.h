// SPDX-License-Identifier: Apache-2.0
//
// Many inferences at once: the user's stacked arrays become samples in memory form, a runner of any stage
// computes them, and the outputs are stacked again.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compiler/execute/ports.h"
#include "compiler/ir/graph.h"

namespace rush {

/// All inputs, or all outputs, of one inference, as they lie in memory.
using Sample = std::vector<HostTensor>;

/// Something that computes inferences: a graph, an image on the host, a firmware on a board.
struct Runner {
  std::vector<PortFormat> inputs;
  std::vector<PortFormat> outputs;
  std::function<std::vector<Sample>(const std::vector<Sample>&)> run;
};

/// The runners refer to what they are given. Samples are spread over all cores; a model with states takes them in
/// order, from its initial states.
Runner graph_runner(const Graph& graph);
Runner program_runner(std::span<const uint8_t> image, const std::string& name = "the image");

/// Several programs that take turns: the inputs and the outputs of all, one behind the other, with the programs' names
/// in front of theirs.
Runner in_turn(std::vector<std::pair<std::string, Runner>> programs);

/// One tensor for each input, N samples stacked on axis 0: (N, *exported shape), or without a batch axis of 1.
/// Throws a UserError that says which shapes fit.
std::vector<Sample> unstack_inputs(const std::vector<PortFormat>& ports, const std::vector<HostTensor>& stacked);

/// One tensor (N, *exported shape) for each output, in the exported element type; `raw`: the integers before the
/// final dequantize.
std::vector<HostTensor> stack_outputs(const std::vector<PortFormat>& ports, const std::vector<Sample>& samples,
                                      bool raw);

/// `work(i)` for every i below count, on all cores; the first exception is thrown again.
void for_each_in_parallel(size_t count, const std::function<std::function<void(size_t)>()>& make_worker);

}  // namespace rush
