// SPDX-License-Identifier: Apache-2.0
//
// Names from a file that somebody else wrote: they may hold quotes, newlines and comment ends, and end up in
// messages, reports and generated code. Graph names become identifiers, layer names keep what is harmless.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace rush {

/// Letters, digits, "_" and "." stay; anything else becomes "_". Never empty.
std::string identifier(std::string_view name);

/// What Python code can spell as a module path stays, other languages' letters too; anything else becomes "_".
std::string layer_name(std::string_view name);

/// For messages: control characters become "?", and what is longer than 200 bytes is cut.
std::string printable(std::string_view text);

/// Identifiers that are given out once: a taken one gets ".2", ".3", ... (the exporter itself uses "_1").
class UniqueNames {
 public:
  std::string take(std::string_view name);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;
};

}  // namespace rush
