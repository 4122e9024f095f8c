// SPDX-License-Identifier: Apache-2.0
//
// The folder of test cases beside the repository, where there is one: broken files must end in a message with the
// words that the case asks for, controls must import, and every other model imports or is refused by name.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "compiler/import/import.h"

namespace rush {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kCases = RUSH_SOURCE_DIR "/../shared/cases";
constexpr auto kTimeLimit = std::chrono::seconds(5);

struct Case {
  std::string name;
  std::filesystem::path model;
  Json description;

  bool bad() const { return description.at("kind") == "bad"; }
  bool must_fail() const { return description.at("expect") == "error" && !description.contains("alt"); }
};

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kCases, error)) {
    std::ifstream file(entry.path() / "case.json");
    if (file) cases.push_back({entry.path().filename(), entry.path() / "model.pt2", Json::parse(file)});
  }
  std::ranges::sort(cases, {}, &Case::name);
  return cases;
}

/// The message, or an empty string where the model imports. Anything but a UserError fails the test.
std::string import_message(const Case& c) {
  const auto start = std::chrono::steady_clock::now();
  std::string message;
  try {
    verify(import_pt2(c.model, {}));
  } catch (const UserError& error) {
    message = error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, kTimeLimit) << c.name;
  return message;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// "size (declared and found bytes)" asks for "size"; "a / b" and "a or b" for either.
std::vector<std::string> alternatives(const std::string& hint) {
  const std::string plain = std::regex_replace(hint, std::regex(" *\\(.*\\)"), "");
  const std::regex separator(" / | or ");
  return {std::sregex_token_iterator(plain.begin(), plain.end(), separator, -1), std::sregex_token_iterator()};
}

bool has_hint(const std::string& message, const std::string& hint) {
  return std::ranges::any_of(alternatives(hint), [&](const std::string& words) {
    const std::string wanted = words == "file name" ? "model.pt2" : words;
    return lower(message).find(lower(wanted)) != std::string::npos;
  });
}

class Cases : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(kCases)) GTEST_SKIP() << "no folder of cases";
  }
};

TEST_F(Cases, BrokenFilesGetTheirMessage) {
  for (const Case& c : all_cases()) {
    if (!c.bad()) continue;
    SCOPED_TRACE(c.name);
    const std::string message = import_message(c);
    EXPECT_TRUE(!message.empty() || !c.must_fail());
    EXPECT_TRUE(message.empty() || c.description.at("expect") != "ok") << message;
    if (message.empty()) continue;
    for (const Json& hint : c.description.at("hint")) EXPECT_TRUE(has_hint(message, hint)) << hint << "\n" << message;
  }
}

// What an operator in the file is called, but not its overload.
std::vector<std::string> operators_of(const std::string& message) {
  const std::regex named("operator torch\\.ops\\.[a-z_]+\\.([a-z0-9_]+)\\.");
  return {std::sregex_token_iterator(message.begin(), message.end(), named, 1), std::sregex_token_iterator()};
}

TEST_F(Cases, OtherModelsImportOrNameWhatIsNotSupported) {
  size_t imported = 0;
  for (const Case& c : all_cases()) {
    if (c.bad()) continue;
    SCOPED_TRACE(c.name);
    const std::string message = import_message(c);
    imported += message.empty();
    EXPECT_TRUE(message.empty() || message.find("not supported") != std::string::npos) << message;
    for (const std::string& name : operators_of(message)) EXPECT_NE(message.find("error: " + name), std::string::npos);
  }
  EXPECT_GE(imported, 45u);
}

}  // namespace
}  // namespace rush
