// SPDX-License-Identifier: Apache-2.0
#include "ops/code_bytes.h"

#include <array>

namespace rush {
namespace {

struct CodeBytes {
  std::string_view target;
  std::string_view row;
  uint32_t bytes;
};

constexpr CodeBytes kCodeBytes[] = {
#define RUSH_CODE_BYTES(target, row, bytes) {target, #row, bytes},
#include "ops/code_bytes.def"
};

uint32_t bytes_of(std::string_view target, std::string_view row) {
  for (const CodeBytes& entry : kCodeBytes) {
    if (entry.target == target && entry.row == row) return entry.bytes;
  }
  return 0;
}

uint32_t bytes_of(const CostCore& core, std::string_view row) {
  const uint32_t own = bytes_of(core.target, row);
  return own != 0 ? own : bytes_of(stand_in(core), row);
}

}  // namespace

uint32_t family_code_bytes(const CostCore& core, std::string_view family) { return bytes_of(core, family); }

uint32_t runtime_code_bytes(const CostCore& core) { return bytes_of(core, "runtime"); }

}  // namespace rush
