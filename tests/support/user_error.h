// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "compiler/ir/diagnostic.h"

namespace rush {

/// The message of the UserError that the action throws, or "no error".
template <class Action>
std::string user_error(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace rush
