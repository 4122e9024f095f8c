// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/exit_code.h"

#include <fmt/format.h>

#include <cstdio>

#include "compiler/ir/diagnostic.h"

namespace rush {

int exit_code_of(const std::function<int()>& work) {
  try {
    return work();
  } catch (const DoesNotHold& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  } catch (const UserError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    fmt::print(stderr,
               "internal error: {}\n  this is a fault of rushlight, not of your model: please report it with the "
               "command and the model\n",
               error.what());
    return 3;
  }
}

}  // namespace rush
