// SPDX-License-Identifier: Apache-2.0
//
// What a tool's main() returns: 0 it holds, 1 it does not, 2 the user's error, 3 our fault.
#pragma once

#include <functional>
#include <stdexcept>

namespace rush {

/// What the user asked about does not hold.
class DoesNotHold : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The result of `work`; or prints what it throws to stderr and returns 1 for DoesNotHold, 2 for UserError, 3 for
/// anything else.
int exit_code_of(const std::function<int()>& work);

}  // namespace rush
