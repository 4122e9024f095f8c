// SPDX-License-Identifier: Apache-2.0
//
// The semihosting calls of semihosting.h: an operation number in r0, the address of its arguments in r1.
#include "semihosting.h"

namespace {

enum Operation : uint32_t {
  kOpen = 0x01,
  kClose = 0x02,
  kWrite = 0x05,
  kRead = 0x06,
  kFileLength = 0x0C,
  kGetCommandLine = 0x15,
  kExit = 0x18
};

// Reasons for kExit. A 32-bit core cannot pass a code with it: any other reason makes the emulator exit with 1.
enum : uint32_t { kApplicationExit = 0x20026, kRunTimeError = 0x20023 };

int32_t call(Operation operation, uint32_t argument) {
  register uint32_t r0 __asm("r0") = operation;
  register uint32_t r1 __asm("r1") = argument;
  __asm volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return static_cast<int32_t>(r0);
}

uint32_t address(const void* pointer) { return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(pointer)); }

// The empty assembly keeps compilers from calling strlen() instead: the harness pulls nothing out of the C library.
uint32_t string_length(const char* text) {
  uint32_t n = 0;
  for (; text[n] != 0; ++n) __asm volatile("" : "+r"(n));
  return n;
}

}  // namespace

namespace semihosting {

int32_t open(const char* path, Mode mode) {
  const uint32_t arguments[] = {address(path), static_cast<uint32_t>(mode), string_length(path)};
  return call(kOpen, address(arguments));
}

void close(int32_t file) {
  const uint32_t arguments[] = {static_cast<uint32_t>(file)};
  call(kClose, address(arguments));
}

int32_t length(int32_t file) {
  const uint32_t arguments[] = {static_cast<uint32_t>(file)};
  return call(kFileLength, address(arguments));
}

bool read(int32_t file, void* to, uint32_t bytes) {
  const uint32_t arguments[] = {static_cast<uint32_t>(file), address(to), bytes};
  return call(kRead, address(arguments)) == 0;
}

bool write(int32_t file, const void* from, uint32_t bytes) {
  const uint32_t arguments[] = {static_cast<uint32_t>(file), address(from), bytes};
  return call(kWrite, address(arguments)) == 0;
}

bool command_line(char* line, uint32_t capacity) {
  const uint32_t arguments[] = {address(line), capacity};
  return call(kGetCommandLine, address(arguments)) == 0;
}

void exit(int code) {
  call(kExit, code == 0 ? kApplicationExit : kRunTimeError);
  for (;;) {
  }
}

}  // namespace semihosting
