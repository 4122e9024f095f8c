// SPDX-License-Identifier: Apache-2.0
//
// What a stage computes on the way, by the names of the tensors that hold it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/execute/execute.h"
#include "compiler/run/run.h"
#include "ops/program.h"

namespace rush {

using Values = std::map<std::string, HostTensor, std::less<>>;

/// Every node's outputs in one inference of a graph; `outputs` are the model's.
Values values_of(const Graph& graph, GraphExecutor& executor, const Sample& inputs, Sample& outputs);

/// Puts together whole tensors from what the bands of a program's steps wrote, whether their maps are whole or rings.
class ProgramValues {
 public:
  explicit ProgramValues(const Program& program) : program_(program) {}

  /// `bytes` lie behind an operand that the step has just written rows of.
  void add(size_t step, size_t operand, Band band, std::span<const uint8_t> bytes);

  /// All tensors of a known type that were written.
  Values take();

 private:
  const Program& program_;
  std::map<BufferId, HostTensor> tensors_;
};

}  // namespace rush
