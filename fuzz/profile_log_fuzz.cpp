// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a capture of a device's lines: a whole log, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/ir/diagnostic.h"
#include "compiler/profile/profile_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const rush::ProfileLog log = rush::parse_profile_log({reinterpret_cast<const char*>(data), size}, "fuzz.txt");
    if (log.timer_hz == 0 || log.core_hz == 0 || log.runs == 0) std::abort();
  } catch (const rush::UserError&) {
  }
  return 0;
}
