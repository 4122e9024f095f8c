// SPDX-License-Identifier: Apache-2.0
//
// A firmware on an emulated board: QEMU started with semihosting, records and the counting plugin as asked.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "compiler/firmware/disassembly.h"
#include "compiler/firmware/process.h"
#include "compiler/firmware/trace.h"
#include "compiler/target/target.h"

namespace rush::firmware {

struct Emulation {
  std::filesystem::path elf;
  std::filesystem::path directory;     ///< files that the firmware opens lie here
  std::vector<std::string> arguments;  ///< its command line; no spaces
  std::filesystem::path records;       ///< loaded at the board's records address, unless empty
  std::string plugin;                  ///< QEMU's -plugin argument, unless empty
  bool counts_time = false;            ///< the clock advances by 32 ns with each instruction, not with the host's time
  double timeout_seconds = 600;
};

/// UserError if QEMU is missing or the firmware does not end in time.
Finished emulate(const Board& board, const Emulation& emulation);

/// The same, and what ran in each region between bench_begin and bench_end.
struct Counted {
  Finished finished;
  Trace trace;
};
Counted emulate_counted(const Board& board, const Emulation& emulation, const Disassembly& code);

/// The plugin API version to announce to a QEMU of this `qemu-system-arm --version` output.
int plugin_api(const std::string& version_output);

/// Disassembles a linked firmware for a core of the class.
Disassembly disassemble(const std::filesystem::path& elf, Isa isa);

}  // namespace rush::firmware
