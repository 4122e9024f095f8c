// SPDX-License-Identifier: Apache-2.0
//
// Other programs: finding them, and running them with a time limit.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rush::firmware {

struct Command {
  std::vector<std::string> arguments;  ///< the program's path first
  std::filesystem::path directory;     ///< to run in; empty: here
  double timeout_seconds = 600;
};

struct Finished {
  int exit_code = 0;  ///< negative: ended by that signal
  bool timed_out = false;
  std::string output;  ///< standard output and error
  bool ok() const { return exit_code == 0 && !timed_out; }
};

/// Runs to the end or the time limit. InternalError if the program cannot be started.
Finished run(const Command& command);

/// Runs and returns the output. InternalError with the output if it fails.
std::string run_checked(const Command& command);

/// The path of a program that Rushlight needs, from PATH. UserError naming the Debian package if it is missing.
std::string find_tool(const std::string& name);

/// Whether find_tool() would succeed.
bool has_tool(const std::string& name);

/// A directory that is removed, with what is in it, at the end of scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Whole files. A file is written beside its place and then renamed, so that no reader sees half of it.
std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

/// Makes a folder for what is written, and those above it.
void make_directory(const std::filesystem::path& path);

/// For names of partial files.
int process_id();

/// Where built objects and plugins are kept between runs: RUSHLIGHT_CACHE, else the user's cache directory.
std::filesystem::path cache_directory();

}  // namespace rush::firmware
