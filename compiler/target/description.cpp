// SPDX-License-Identifier: Apache-2.0
//
// Typed access to a TOML description, with the messages for a wrong one.
#include "compiler/target/description.h"

#include <charconv>

#include <fmt/format.h>

#include "compiler/ir/diagnostic.h"

namespace rush {

Description Description::parse(const std::string& text, const std::string& file) {
  try {
    return {toml::parse(text), file};
  } catch (const toml::parse_error& error) {
    throw UserError(fmt::format("{}:{}: {}", file, error.source().begin.line, error.description()),
                    "correct the description");
  }
}

void Description::fail(const std::string& key, const std::string& what) const {
  throw UserError(fmt::format("{}: {}: {}", file_, key, what), "correct the description");
}

std::string Description::text(const std::string& key) const {
  const auto value = table_[key].value<std::string>();
  if (!value) fail(key, "a string is needed");
  return *value;
}

double Description::number(const std::string& key) const {
  const auto value = table_[key].value<double>();
  if (!value) fail(key, "a number is needed");
  return *value;
}

int64_t Description::integer(const std::string& key) const {
  const auto value = table_[key].value<int64_t>();
  if (!value) fail(key, "an integer is needed");
  return *value;
}

int64_t Description::integer_or(const std::string& key, int64_t fallback) const {
  return table_.contains(key) ? integer(key) : fallback;
}

bool Description::flag_or(const std::string& key, bool fallback) const {
  if (!table_.contains(key)) return fallback;
  const auto value = table_[key].value<bool>();
  if (!value) fail(key, "true or false is needed");
  return *value;
}

uint64_t Description::size(const std::string& key) const {
  if (table_[key].is_integer()) return static_cast<uint64_t>(integer(key));
  const uint64_t bytes = parse_size(text(key));
  if (bytes == 0) fail(key, "a size is needed, such as 512, \"16K\" or \"2M\"");
  return bytes;
}

std::vector<std::string> Description::texts(const std::string& key) const {
  const toml::array* array = table_[key].as_array();
  if (!array) fail(key, "a list of strings is needed");
  std::vector<std::string> result;
  for (const auto& element : *array) {
    const auto value = element.value<std::string>();
    if (!value) fail(key, "a list of strings is needed");
    result.push_back(*value);
  }
  return result;
}

Description Description::table(const std::string& key) const {
  const toml::table* table = table_[key].as_table();
  if (!table) fail(key, "a table is needed");
  return {*table, file_};
}

std::vector<Description> Description::tables(const std::string& key) const {
  const toml::array* array = table_[key].as_array();
  if (!array) fail(key, "tables are needed");
  std::vector<Description> result;
  for (const auto& element : *array) {
    if (!element.is_table()) fail(key, "tables are needed");
    result.push_back({*element.as_table(), file_});
  }
  return result;
}

std::vector<std::string> Description::keys() const {
  std::vector<std::string> result;
  for (const auto& [key, value] : table_) result.emplace_back(key.str());
  return result;
}

std::vector<int> Description::integers(const std::string& key) const {
  const toml::array* array = table_[key].as_array();
  if (!array) fail(key, "a list of integers is needed");
  std::vector<int> result;
  for (const auto& element : *array) {
    const auto value = element.value<int>();
    if (!value) fail(key, "a list of integers is needed");
    result.push_back(*value);
  }
  return result;
}

uint64_t parse_size(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return 0;
  const std::string unit(end, text.data() + text.size());
  if (unit.empty()) return value;
  if (unit == "K") return value << 10;
  return unit == "M" ? value << 20 : 0;
}

}  // namespace rush
