// SPDX-License-Identifier: Apache-2.0
//
// Reader of the plugin's text: "block ID ADDRESS INSTRUCTIONS", "edge FROM TO COUNT", "end".
#include "compiler/firmware/trace.h"

#include <sstream>

#include "compiler/ir/diagnostic.h"

namespace rush::firmware {
namespace {

void read_block(std::istream& in, Trace& trace) {
  size_t id = 0;
  TraceBlock block;
  in >> id >> block.address >> block.instructions;
  internal_check(bool(in) && id < (size_t{1} << 24), "a block of the trace is damaged");
  if (id >= trace.blocks.size()) trace.blocks.resize(id + 1);
  trace.blocks[id] = block;
}

TraceEdge read_edge(std::istream& in, const Trace& trace) {
  TraceEdge edge;
  in >> edge.from >> edge.to >> edge.count;
  const int blocks = static_cast<int>(trace.blocks.size());
  internal_check(bool(in) && edge.from >= -1 && edge.from < blocks && edge.to >= 0 && edge.to < blocks,
                 "an edge of the trace is damaged");
  return edge;
}

}  // namespace

Trace parse_trace(const std::string& text) {
  Trace trace;
  std::vector<TraceEdge> region;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    if (word == "block") {
      read_block(in, trace);
    } else if (word == "edge") {
      region.push_back(read_edge(in, trace));
    } else {
      internal_check(word == "end", "the trace has an unknown line: " + word);
      trace.regions.push_back(std::move(region));
      region.clear();
    }
  }
  return trace;
}

}  // namespace rush::firmware
