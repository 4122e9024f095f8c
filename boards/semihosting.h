// SPDX-License-Identifier: Apache-2.0
//
// Files and program end through semihosting: the emulator (or debugger) does on the host what the firmware asks
// for with `bkpt 0xab`. Only test firmware uses it. Arm, "Semihosting for AArch32 and AArch64", 2.0.
#ifndef RUSH_BOARDS_SEMIHOSTING_H
#define RUSH_BOARDS_SEMIHOSTING_H

#include <stdint.h>

namespace semihosting {

enum class Mode : uint32_t { kRead = 1, kWrite = 5 };  // "rb", "wb"

/// A host file, or a negative number if it cannot be opened.
int32_t open(const char* path, Mode mode);
void close(int32_t file);

/// Bytes in the file, or a negative number.
int32_t length(int32_t file);

/// True if all bytes were read or written.
bool read(int32_t file, void* to, uint32_t bytes);
bool write(int32_t file, const void* from, uint32_t bytes);

/// Copies the zero-terminated command line into `line`; false if there is none or it does not fit.
bool command_line(char* line, uint32_t capacity);

/// Ends the program: 0 is success, anything else is not.
[[noreturn]] void exit(int code);

}  // namespace semihosting
#endif
