// SPDX-License-Identifier: Apache-2.0
//
// What a firmware computes on the way: every tensor of every sample, from one start of an emulated board.
#pragma once

#include <vector>

#include "compiler/compare/values.h"
#include "compiler/firmware/build.h"
#include "compiler/pipeline.h"

namespace rush {

std::vector<Values> board_values(const Compilation& made, const firmware::BuildRequest& request,
                                 const std::vector<Sample>& inputs);

}  // namespace rush
