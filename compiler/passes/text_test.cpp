// SPDX-License-Identifier: Apache-2.0
//
// Each file of cases/ is a graph, a line "---", and what the pass named by the file (<pass>.<what>.txt) makes of it;
// "all" is the whole list. Where the pass refuses the graph, the second half is the message.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "compiler/passes/pass_list.h"

namespace rush {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(RUSH_SOURCE_DIR) / "compiler/passes/cases";

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::string read_text(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Graph run_passes(const std::string& name, Graph graph) {
  bool found = false;
  for (const Pass& pass : kPasses) {
    if (name != "all" && (found || name != pass.name)) continue;
    graph = pass.run(std::move(graph));
    verify(graph);
    found = true;
  }
  EXPECT_TRUE(found) << "no pass is named " << name;
  return graph;
}

std::string printed(const Graph& graph) { return print(graph, {.max_constant_elements = 1 << 20}); }

std::string result_of(const std::string& pass, const std::string& input) {
  Graph graph = parse(input);
  verify(graph);
  try {
    return printed(run_passes(pass, std::move(graph)));
  } catch (const UserError& error) {
    return std::string(error.what()) + "\n";
  }
}

class PassText : public testing::TestWithParam<std::string> {};

TEST_P(PassText, IsAsExpected) {
  const std::string text = read_text(kFolder / (GetParam() + ".txt"));
  const size_t line = text.find("\n---\n");
  ASSERT_NE(line, std::string::npos) << "no line ---";
  const std::string input = text.substr(0, line + 1), expected = text.substr(line + 5);
  const std::string result = result_of(GetParam().substr(0, GetParam().find('.')), input);
  EXPECT_EQ(result, expected.starts_with("error:") ? expected : printed(parse(expected)));
}

INSTANTIATE_TEST_SUITE_P(Cases, PassText, testing::ValuesIn(case_names()), [](const auto& info) {
  std::string name = info.param;
  std::ranges::replace(name, '.', '_');
  return name;
});

}  // namespace
}  // namespace rush
