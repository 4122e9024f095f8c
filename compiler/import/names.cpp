// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/names.h"

namespace rush {
namespace {

constexpr size_t kLongestPrintable = 200;

bool is_ascii_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

bool is_non_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

template <class F>
std::string replaced(std::string_view text, F keep, char substitute) {
  std::string out(text);
  for (char& c : out) {
    if (!keep(c)) c = substitute;
  }
  return out;
}

}  // namespace

std::string identifier(std::string_view name) {
  std::string out = replaced(name, is_ascii_word, '_');
  return out.empty() ? "_" : out;
}

std::string layer_name(std::string_view name) {
  return replaced(
      name, [](char c) { return is_ascii_word(c) || is_non_ascii(c) || c == '[' || c == ']' || c == '-'; }, '_');
}

std::string printable(std::string_view text) {
  const bool cut = text.size() > kLongestPrintable;
  std::string out = replaced(text.substr(0, kLongestPrintable), [](char c) { return !is_control(c); }, '?');
  return cut ? out + "..." : out;
}

std::string UniqueNames::take(std::string_view name) {
  const std::string base = identifier(name);
  std::string candidate = base;
  while (!taken_.insert(candidate).second) candidate = base + "." + std::to_string(next_[base]++ + 2);
  return candidate;
}

}  // namespace rush
