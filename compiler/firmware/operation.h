// SPDX-License-Identifier: Apache-2.0
//
// An instruction as a pipeline sees it: its class, the registers that it reads and writes, and how many it moves.
#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/firmware/disassembly.h"

namespace rush::firmware {

/// Classes of instructions that cost the same. docs/targets.md lists what belongs to each.
enum class OpClass {
  kAlu,
  kShiftAlu,
  kBitField,
  kMul,
  kMac,
  kLongMul,
  kDiv,
  kLoad,
  kLoadNarrow,
  kStore,
  kLoadMany,
  kStoreMany,
  kBranch,
  kBranchLink,
  kBranchIndirect,
  kFpMove,
  kFpAlu,
  kFpMac,
  kFpDiv,
  kFpLoad,
  kFpStore,
  kVectorLoad,
  kVectorStore,
  kVectorGather,
  kVectorScatter,
  kVectorAlu,
  kVectorShift,
  kVectorMul,
  kVectorMacToCore,
  kVectorToCore,
  kVectorFp,
  kPredicate,
  kLoopStart,
  kLoopEnd,
  kIfThen,
  kNop,
  kCount
};

/// The class's key in a target's cost table, e.g. "vector_load".
std::string_view name_of(OpClass op_class);

/// Registers as bits: r0-r15, the flags, the vector predicate, s0-s31 (a d register is two of them, a q register four).
using Registers = uint64_t;
enum : int { kFlagsBit = 16, kPredicateBit = 17, kFirstSingleBit = 18 };

struct Operation {
  OpClass op_class = OpClass::kNop;
  int bytes = 2;
  int registers_moved = 0;    ///< of load and store multiple
  bool conditional = false;   ///< a branch that may fall through
  Registers reads = 0;        ///< needed at issue
  Registers accumulates = 0;  ///< read late: multiply-accumulates forward it
  Registers stored = 0;       ///< the data of a store, read late
  Registers results = 0;      ///< ready after the class's latency
  Registers updates = 0;      ///< base registers written back, ready in the next cycle
};

/// Decodes one instruction; a mnemonic that is not known() is taken for a one-cycle ALU operation.
Operation decode(const Instruction& instruction);

/// Whether decode() knows the mnemonic.
bool known(std::string_view mnemonic);

}  // namespace rush::firmware
