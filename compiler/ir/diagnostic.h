// SPDX-License-Identifier: Apache-2.0
//
// Faults and whose they are. A UserError is something the user can mend: it names their layer, their line and
// what to do, and all of a model's errors are collected before it is thrown. An InternalError is ours.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace rush {

/// Where a node comes from in the user's program.
struct Origin {
  std::string layer;   ///< module path, e.g. "blocks.3.conv"; the node's name where there is none
  std::string source;  ///< "model.py:41", or empty
  bool operator==(const Origin&) const = default;
};

/// One message: `what` is a sentence without the location; `details` are further lines; `fix` says what to do.
struct Diagnostic {
  std::string what;
  std::string op;  ///< "conv2d", or empty where the message is about a file
  Origin origin;
  std::vector<std::string> details;
  std::string fix;
};

/// error: conv2d "blocks.3.conv" (model.py:41): dilation 2 has no kernel for cortex-m4
///   input int8 [1,64,25,5]
///   fix: ...
std::string to_string(const Diagnostic& diagnostic);

/// The user's mistake; exit code 2.
class UserError : public std::runtime_error {
 public:
  explicit UserError(std::vector<Diagnostic> diagnostics);
  explicit UserError(Diagnostic diagnostic);
  UserError(std::string what, std::string fix);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Our mistake; exit code 3.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError with the text unless `condition` holds.
void internal_check(bool condition, const std::string& text);

}  // namespace rush
