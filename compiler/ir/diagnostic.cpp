// SPDX-License-Identifier: Apache-2.0
//
// Rendering of diagnostics: the form that every command prints.
#include "compiler/ir/diagnostic.h"

#include <fmt/format.h>

namespace rush {
namespace {

std::string location(const Diagnostic& d) {
  std::string text = d.op;
  if (!d.origin.layer.empty()) text += fmt::format("{}\"{}\"", text.empty() ? "" : " ", d.origin.layer);
  if (!d.origin.source.empty()) text += fmt::format("{}({})", text.empty() ? "" : " ", d.origin.source);
  return text.empty() ? text : text + ": ";
}

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += (text.empty() ? "" : "\n") + to_string(d);
  return text;
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  std::string text = "error: " + location(d) + d.what;
  for (const std::string& line : d.details) text += "\n  " + line;
  if (!d.fix.empty()) text += "\n  fix: " + d.fix;
  return text;
}

UserError::UserError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(join(diagnostics)), diagnostics_(std::move(diagnostics)) {}

UserError::UserError(Diagnostic diagnostic) : UserError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

UserError::UserError(std::string what, std::string fix)
    : UserError(Diagnostic{.what = std::move(what), .op = {}, .origin = {}, .details = {}, .fix = std::move(fix)}) {}

void internal_check(bool condition, const std::string& text) {
  if (!condition) throw InternalError(text);
}

}  // namespace rush
