// SPDX-License-Identifier: Apache-2.0
//
// What to use instead of an operator that cannot be compiled.
#pragma once

#include <string>
#include <string_view>

namespace rush {

/// The supported operator that comes nearest, by its name in PyTorch and what to mind, e.g. "relu6 (its limits fold
/// into the layer before)". Empty if nothing is near.
std::string nearest_operator(std::string_view target);

}  // namespace rush
