// SPDX-License-Identifier: Apache-2.0
//
// Device sources to objects, in parallel and cached: an object is found again by the hash of everything that went into
// it.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "compiler/target/target.h"
#include "ops/program.h"

namespace rush::firmware {

enum class Compiler { kGcc, kClang };

/// "gcc", "clang", and back; any other name is a UserError.
std::string_view name_of(Compiler compiler);
Compiler compiler_named(std::string_view name);

/// What an object is part of. All but kHarness is what a user's firmware would have, too.
enum class Part { kStartup, kCore, kKernel, kModel, kMemory, kHarness };

/// "startup", "core", …: the first word of an object's file name, by which a linker map is read.
std::string_view name_of(Part part);

struct Source {
  Part part = Part::kCore;
  std::string name;  ///< the object's name: letters, digits, '_'
  std::filesystem::path path;
  std::vector<std::filesystem::path> includes;  ///< further directories, first the most specific
};

/// What sources are compiled with and for.
struct CompileFor {
  const Target& target;
  Compiler compiler = Compiler::kGcc;
  Opt opt = Opt::kBalanced;
};

struct Object {
  std::filesystem::path path;  ///< .../<part>.<name>.o, its stack usage beside it as .su
  std::string key;             ///< hash of all inputs
};

/// Compiles all sources, as many at a time as there are cores. InternalError with the compiler's words if one fails.
std::vector<Object> compile_objects(std::span<const Source> sources, const CompileFor& how);

/// Whether inner loops that have an assembly file are built from it: always, but where RUSHLIGHT_ASSEMBLY is 0.
bool uses_assembly();

/// The complete command that compiles one source.
std::vector<std::string> compile_command(const Source& source, const CompileFor& how);

/// A hash for cache keys (128 bit, not cryptographic), as hexadecimal digits.
std::string hash_text(std::string_view text);

}  // namespace rush::firmware
