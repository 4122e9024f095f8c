// SPDX-License-Identifier: Apache-2.0
//
// What a firmware occupies, by what it is part of: from the linker's map, and the stack from the linked code.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "compiler/emit/account.h"
#include "compiler/firmware/linker_map.h"
#include "compiler/firmware/stack_bound.h"
#include "compiler/target/target.h"

namespace rush::firmware {

/// What one model's image is made of.
struct ModelSize {
  std::string name;
  uint32_t image_bytes = 0;
  ImageAccount account;
};

/// Bytes of the product, the harness aside unless said so. Library functions are the C library's and the compiler's.
struct SizeReport {
  uint32_t flash_bytes = 0;           ///< vectors + startup + core + kernels + model + library + padding
  uint32_t ram_bytes = 0;             ///< statics, regions, context, stack
  uint32_t stack_bytes = 0;           ///< bound of what opening and running the model needs, in this very code
  uint32_t declared_stack_bytes = 0;  ///< the image's bound, known before the build; at least stack_bytes
  uint32_t vector_bytes = 0;
  uint32_t startup_bytes = 0;
  uint32_t core_bytes = 0;  ///< the runtime
  uint32_t kernel_bytes = 0;
  uint32_t model_bytes = 0;  ///< the image and table_bytes
  uint32_t table_bytes = 0;  ///< the kernel table, and where the regions lie
  uint32_t library_bytes = 0;
  uint32_t padding_bytes = 0;
  uint32_t region_bytes = 0;                  ///< arenas and state
  uint32_t static_bytes = 0;                  ///< the context, and data and bss of product objects
  uint32_t harness_bytes = 0;                 ///< flash of semihosting, file I/O, checks
  std::map<std::string, uint32_t> kernels;    ///< by source file
  std::map<std::string, uint32_t> library;    ///< by member of the archives, e.g. "libc memcpy"
  std::map<std::string, uint32_t> functions;  ///< of the core and the kernels, by section name
  std::vector<ModelSize> models;
  std::vector<std::string> stack_path;
};

/// Adds up a map. The stack fields are left 0.
SizeReport measure_map(const std::vector<MapSection>& map);

/// The whole report of DIR/firmware.elf. InternalError if the stack's bound cannot be proven or exceeds the image's.
SizeReport measure_firmware(const std::filesystem::path& directory);

/// What `rushlight size --json` prints.
std::string size_json(const SizeReport& size);

}  // namespace rush::firmware
