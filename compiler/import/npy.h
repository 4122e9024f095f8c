// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npy files, as numpy/lib/format.py defines them: versions 1 to 3, little-endian, float32, float64, bool,
// int8 to int64 and uint8. Fortran order is read by transposing; written is version 1, C order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "compiler/ir/tensor.h"

namespace rush {

/// Throws UserError naming the file: not there, not .npy, another type, shorter or longer than its shape.
HostTensor read_npy(const std::filesystem::path& file);

/// The same from memory; `name` stands for the file in messages.
HostTensor parse_npy(std::span<const uint8_t> bytes, const std::string& name);

/// The bytes of a .npy file.
std::string format_npy(const HostTensor& tensor);

/// Writes a temporary file beside `file` and renames it. Throws UserError where that is not possible.
void write_npy(const std::filesystem::path& file, const HostTensor& tensor);

}  // namespace rush
