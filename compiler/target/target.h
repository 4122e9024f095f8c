// SPDX-License-Identifier: Apache-2.0
//
// The cores that Rushlight compiles for and the boards that run their code, as described in targets/*.toml and
// boards/<board>/board.toml.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "ops/program.h"
#include "rushlight/image.h"

namespace rush {

/// How a core issues two instructions at once: never, only pairs of 16-bit instructions, or any pair whose units
/// differ.
enum class Pairing { kNone, kNarrow, kAny };

/// Cycles of one class of instructions. Scalar ones keep the issue stage busy, vector ones their unit.
struct InstructionCost {
  int busy = 1;        ///< 0: folded into its neighbour
  int latency = 1;     ///< until the result can be used
  int accumulate = 0;  ///< until it can be used as the accumulator of the same class; 0: as latency
};

/// What the cycle model knows of a core. Cost keys are the instruction classes of docs/targets.md.
struct Pipeline {
  Pairing pairing = Pairing::kNone;
  int loads_per_cycle = 1;
  int branch_taken = 0;  ///< cycles lost
  int branch_indirect = 0;
  int mispredict = 0;            ///< 0: the core does not predict
  int words_per_cycle = 1;       ///< of load and store multiple
  int store_data_delay = 0;      ///< cycles that a store's data may come later than its address
  bool pipelined_loads = false;  ///< a load costs a cycle more unless a load or store follows it
  std::map<std::string, InstructionCost> costs;
};

/// A core, or a chip with one. Flags are complete for a compile: CPU, FPU and float ABI.
struct Target {
  std::string name;
  std::string core;  ///< a chip's, or the name itself
  std::string description;
  Isa isa = Isa::kScalar;
  double mhz = 0;             ///< clock that modelled latencies are given for
  double macs_per_cycle = 0;  ///< the most int8 multiply-accumulates that the core can do
  std::vector<std::string> gcc_flags;
  std::vector<std::string> clang_flags;
  std::string board;         ///< emulated board that runs its code by default
  uint64_t flash_bytes = 0;  ///< limits that a model is checked against
  uint64_t ram_bytes = 0;
  std::vector<ChipMemory> memories;  ///< of a chip; empty: one of each kind, as fast as the core
  uint64_t cache_bytes = 0;          ///< of a chip's data cache
  Pipeline pipeline;
};

struct BoardMemory {
  enum class Kind { kVectors, kFlash, kRam };
  std::string name;
  Kind kind = Kind::kRam;
  uint64_t base = 0;
  uint64_t bytes = 0;
};

/// An emulated board. The first memory of each kind is the default; without a vectors memory the vector table
/// lies at the start of flash.
struct Board {
  std::string name;
  std::string description;
  std::vector<std::string> cores;
  std::string qemu_machine;
  std::string qemu_cpu;
  uint32_t core_hz = 0;  ///< as emulated
  uint64_t stack_bytes = 0;
  uint64_t records_base = 0;
  uint64_t records_bytes = 0;
  std::vector<BoardMemory> memories;

  const BoardMemory& flash() const;
  const BoardMemory& ram() const;
  const BoardMemory& vectors() const;
  bool runs(const Target& target) const;
};

/// Directory with targets/, boards/, runtime/ and ops/: RUSHLIGHT_HOME, else <executable's
/// directory>/../share/rushlight, else the source tree. UserError if none of them holds targets/.
std::filesystem::path data_root();

/// Sorted names of all described cores and boards.
std::vector<std::string> target_names();
std::vector<std::string> board_names();

/// UserError that lists the known names if there is no such core or board.
Target load_target(const std::string& name);
Board load_board(const std::string& name);

/// The same from the text of a description; `file` is for messages.
Target parse_target(const std::string& toml_text, const std::string& file);
Board parse_board(const std::string& toml_text, const std::string& file);

/// UserError, naming boards that do, unless the board runs the target's code.
void require_runs(const Board& board, const Target& target);

}  // namespace rush
