// SPDX-License-Identifier: Apache-2.0
//
// Reading a TOML description: each accessor throws a UserError that names file and key. Parser differences between
// versions of the TOML library end here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <toml++/toml.h>

namespace rush {

class Description {
 public:
  /// UserError with the line if the text is not TOML.
  static Description parse(const std::string& text, const std::string& file);

  std::string text(const std::string& key) const;
  double number(const std::string& key) const;
  int64_t integer(const std::string& key) const;
  int64_t integer_or(const std::string& key, int64_t fallback) const;
  bool flag_or(const std::string& key, bool fallback) const;
  /// "512", "16K", "2M", or an integer.
  uint64_t size(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  Description table(const std::string& key) const;
  std::vector<Description> tables(const std::string& key) const;
  std::vector<std::string> keys() const;
  std::vector<int> integers(const std::string& key) const;

  /// UserError: FILE: KEY: what.
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

 private:
  Description(toml::table table, std::string file) : table_(std::move(table)), file_(std::move(file)) {}

  toml::table table_;
  std::string file_;
};

/// Bytes of "512", "16K" or "2M"; 0 if the text is no size.
uint64_t parse_size(const std::string& text);

}  // namespace rush
