// SPDX-License-Identifier: Apache-2.0
//
// From operator names as torch.export writes them to the functions that translate them: a table for each family,
// in the family's file. Adding an operator to the importer is one line there.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/import/call.h"
#include "ops/op_def.h"

namespace rush {

struct AtenOperator {
  std::string_view target;  ///< without "torch.ops."
  void (*translate)(Call& call);
  const OpDef* op = nullptr;  ///< what it becomes, mainly; its QuantRule tells the quantizer what to do with it
};

std::span<const AtenOperator> convolution_operators();
std::span<const AtenOperator> pooling_operators();
std::span<const AtenOperator> shape_operators();
std::span<const AtenOperator> elementwise_operators();
std::span<const AtenOperator> quantizer_operators();
std::span<const AtenOperator> symbolic_operators();

/// Every operator that becomes one of ours.
std::vector<AtenOperator> aten_operators();

/// Null if the operator is not supported.
const AtenOperator* find_aten_operator(std::string_view target);

/// Has no effect on the results: assertions and guards.
bool is_assertion(std::string_view target);

/// torch.cond, torch.while_loop and the like.
bool is_control_flow(std::string_view target);

}  // namespace rush
