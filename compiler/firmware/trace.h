// SPDX-License-Identifier: Apache-2.0
//
// What boards/qemu/count_plugin.c writes: which translation blocks ran in each bracketed region, and how often one
// followed the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rush::firmware {

struct TraceBlock {
  uint32_t address = 0;
  uint32_t instructions = 0;
};

/// `count` executions of block `to` right behind block `from` (-1: at the start of the region).
struct TraceEdge {
  int from = -1;
  int to = 0;
  uint64_t count = 0;
};

struct Trace {
  std::vector<TraceBlock> blocks;
  std::vector<std::vector<TraceEdge>> regions;
};

/// InternalError for text that is no trace.
Trace parse_trace(const std::string& text);

}  // namespace rush::firmware
