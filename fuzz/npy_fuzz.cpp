// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .npy file: a tensor that reads back as it was written, or a UserError.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "compiler/import/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const rush::HostTensor tensor = rush::parse_npy({data, size}, "fuzz.npy");
    const std::string text = rush::format_npy(tensor);
    const rush::HostTensor again =
        rush::parse_npy({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "again.npy");
    if (!(again == tensor)) std::abort();
  } catch (const rush::UserError&) {
  }
  return 0;
}
