// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a record of a deployed model: one that is as it was written, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/compare/record.h"
#include "compiler/ir/diagnostic.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const rush::DeployedRecord record = rush::parse_record({reinterpret_cast<const char*>(data), size}, "fuzz.json");
    if (!rush::differences(record, rush::parse_record(rush::record_json(record), "again.json")).empty()) std::abort();
  } catch (const rush::UserError&) {
  }
  return 0;
}
