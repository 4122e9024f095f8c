// SPDX-License-Identifier: Apache-2.0
//
// Imports archives from memory and compares the graph with its text, or gives the error's text.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/import/import.h"
#include "tests/support/pt2_writer.h"

namespace rush {

inline Graph import_of(const Pt2Writer& writer, const ImportOptions& options = {}) {
  const std::vector<uint8_t> archive = writer.archive();
  return import_pt2(archive, "model.pt2", options);
}

/// The whole message of the UserError, or "no error".
inline std::string import_error(const std::vector<uint8_t>& archive, const ImportOptions& options = {}) {
  try {
    import_pt2(archive, "model.pt2", options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

inline std::string import_error(const Pt2Writer& writer, const ImportOptions& options = {}) {
  return import_error(writer.archive(), options);
}

/// Same graph as the text describes; prints both if not.
inline void expect_graph(const Graph& graph, const std::string& text) {
  const Graph expected = parse(text);
  EXPECT_TRUE(same(graph, expected)) << "imported:\n" << print(graph) << "expected:\n" << print(expected);
}

}  // namespace rush
